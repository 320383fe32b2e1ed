import type { Db } from '../db/open.ts';
import { registerChainGauges, registerContradictions } from '../http/chain-gauges.ts';
import type { Metrics } from '../http/metrics.ts';
import { type Clock, timestamp } from '../lib/clock.ts';
import type { PaymentChain } from './model/payment-chain.ts';
import { type ContractCoins, contractCoinsOf, cursorStore } from './store/cursor-store.ts';
import { setAsideStore } from './store/set-aside-store.ts';
import type { WatcherStatus } from './watcher/chain-watcher.ts';

/** Progress of one chain's watcher, in this process or another one. */
export interface ChainStatus {
  readonly chain: PaymentChain;
  /** Head block at the latest poll; undefined when another process watches the chain. */
  readonly headBlock: number | undefined;
  /** The last block that any process scanned for payments; undefined before the first scan. */
  readonly scannedBlock: number | undefined;
  /** Host name of the node that answered last; undefined when another process watches the chain. */
  readonly node: string | undefined;
  /** The head up to which everything is settled; undefined before the first check. */
  readonly settledBlock: number | undefined;
  /** Time since the chain was last scanned up to its head, or since the start of this process. */
  readonly lagMs: number;
  /** Source that shows coins which contracts send; null without one. */
  readonly contractCoins: ContractCoins | null;
  /** The last block whose traces were read for such coins; undefined while no traces are. */
  readonly tracedBlock: number | undefined;
  /** The block up to which transfers were read from proven blocks; undefined before the first one. */
  readonly provenBlock: number | undefined;
  /** Number of transactions and blocks that are set aside, because no node returned them or their receipts. */
  readonly setAside: number;
  /** True when for a minute the chain was not scanned, or nothing on it was settled, so that payments are found late. */
  readonly isLate: boolean;
  /** Contradictions of its nodes, as far as this process knows. */
  readonly contradictions: WatcherStatus['contradictions'];
  /** The part that has not moved for longer than it should; undefined when all move. */
  readonly stalled: StalledPart | undefined;
}

/**
 * Part of settlement that stands still.
 * - `node`: the nodes show no new blocks, as far as the process that watches the chain knows.
 * - `scan`: no process has read the chain up to its head for a minute.
 * - `settlement`: blocks are read, but for a minute nothing in them could be settled or checked.
 */
type StalledPart = 'node' | 'scan' | 'settlement';

export interface WatchedChainStatus {
  readonly chain: PaymentChain;
  readonly status: () => WatcherStatus;
}

/** Status of a chain that another process watches. */
export function unwatched(chain: PaymentChain): WatchedChainStatus {
  const contradictions = { current: () => [], counts: () => new Map() };
  const nothing = {
    node: undefined,
    head: undefined,
    standsStill: false,
    scannedAt: undefined,
    contradictions,
  };
  return { chain, status: () => nothing };
}

/** Reads the state of the payment chains. */
export interface ChainStatuses {
  readonly watched: readonly WatchedChainStatus[];
  all(): Promise<readonly ChainStatus[]>;
  /**
   * True while payments on a chain are detected late, also for a chain that is no longer configured. Reads a timely
   * chain once a minute and a late one every five seconds.
   */
  isLate(chainId: number): Promise<boolean>;
}

/** Time without a scan after which a chain is late. */
export const LATE_CHAIN_MS = 60_000;
/** Interval at which a late chain is read again. */
const READ_AGAIN_MS = 5_000;

type Progress = Pick<
  ChainStatus,
  'scannedBlock' | 'settledBlock' | 'contractCoins' | 'tracedBlock' | 'provenBlock' | 'lagMs'
>;

/** Reads the progress from the database, because another process may watch a chain. */
export function chainStatuses({
  db,
  clock,
  watched,
}: {
  db: Db;
  clock: Clock;
  watched: readonly WatchedChainStatus[];
}): ChainStatuses {
  const startedAt = clock.now();
  const settled = new Map<number, { readonly block: number | undefined; readonly since: number }>();
  const remembered = new Map<number, { readonly lagMs: number; readonly readAt: number }>();

  async function progressOf(chainId: number): Promise<Progress> {
    const progress = await cursorStore(db).find(chainId);
    const { blockNumber, scannedAt = 0, settledBlock } = progress ?? {};
    const lagMs = Math.max(0, clock.now() - (scannedAt === 0 ? startedAt : scannedAt));
    const contractCoins = contractCoinsOf(progress);
    const tracedBlock = contractCoins === 'traces' ? progress?.traced?.number : undefined;
    const provenBlock = progress?.proven?.number;
    return { scannedBlock: blockNumber, settledBlock, contractCoins, tracedBlock, provenBlock, lagMs };
  }

  /** Milliseconds for which the settled block has been behind the scanned one and has not moved. */
  function unsettledMs(chainId: number, { scannedBlock = 0, settledBlock }: Progress): number {
    const known = settled.get(chainId);
    const isMoved =
      known === undefined || known.block !== settledBlock || (settledBlock ?? 0) >= scannedBlock;
    if (!isMoved) return clock.now() - known.since;
    settled.set(chainId, { block: settledBlock, since: clock.now() });
    return 0;
  }

  function stalledPart(chainId: number, progress: Progress, standsStill: boolean): StalledPart | undefined {
    const isUnsettled = unsettledMs(chainId, progress) > LATE_CHAIN_MS;
    if (progress.lagMs > LATE_CHAIN_MS) return 'scan';
    if (isUnsettled) return 'settlement';
    return standsStill ? 'node' : undefined;
  }

  async function statusOf({ chain, status }: WatchedChainStatus): Promise<ChainStatus> {
    const { head, node, standsStill, contradictions } = status();
    const progress = await progressOf(chain.id);
    const stalled = stalledPart(chain.id, progress, standsStill);
    return {
      chain,
      headBlock: head,
      node,
      ...progress,
      setAside: await setAsideStore(db).count(chain.id),
      contradictions,
      isLate: stalled === 'scan' || stalled === 'settlement',
      stalled,
    };
  }

  // Every page and every state calls this. The database is read again only when the last reading can no longer show
  // that the chain is in time.
  async function isLate(chainId: number): Promise<boolean> {
    const now = clock.now();
    const known = remembered.get(chainId);
    if (known !== undefined && now - known.readAt + known.lagMs <= LATE_CHAIN_MS) return false;
    if (known !== undefined && now - known.readAt < READ_AGAIN_MS) return true;
    const progress = await progressOf(chainId);
    const lagMs = Math.max(progress.lagMs, unsettledMs(chainId, progress));
    remembered.set(chainId, { lagMs, readAt: now });
    return lagMs > LATE_CHAIN_MS;
  }

  return { watched, all: () => Promise.all(watched.map(statusOf)), isLate };
}

/**
 * State of a chain for the operator. Readiness does not depend on nodes (Decision 145), so their failures show only
 * here. Contains no URLs of nodes, because they may contain keys.
 */
export function paymentChainStatusBody(status: ChainStatus) {
  const { chain, headBlock, node, scannedBlock, settledBlock, contractCoins, tracedBlock, provenBlock } =
    status;
  const { setAside, lagMs, isLate, contradictions, stalled } = status;
  const isKnown = headBlock !== undefined && settledBlock !== undefined;
  return {
    id: chain.id,
    name: chain.name,
    node: node ?? null,
    late: isLate,
    head_block: headBlock ?? null,
    scanned_block: scannedBlock ?? null,
    settled_block: settledBlock ?? null,
    lag_blocks: isKnown ? Math.max(0, headBlock - settledBlock) : null,
    lag_seconds: Math.round(lagMs / 1000),
    set_aside: setAside,
    coins_from_contracts: contractCoins,
    traced_block: tracedBlock ?? null,
    proven_block: chain.prove === 'always' ? (provenBlock ?? null) : null,
    contradicting_nodes: contradictions.current().map(({ until, ...one }) => ({
      ...one,
      left_out_until: timestamp(until),
    })),
    stalled: stalled ?? null,
  };
}

const STALLED_WORDS: Readonly<Record<StalledPart, string>> = {
  node: 'its nodes show no new blocks',
  scan: 'no process reads it up to its head',
  settlement: 'its blocks are read, but nothing in them can be settled',
};

/** Warnings about chains on which payments are found late, or will be. */
export function chainWarnings(statuses: readonly ChainStatus[]): string[] {
  return statuses.flatMap(({ chain, stalled, lagMs }) =>
    stalled === undefined
      ? []
      : [
          `payments on chain ${chain.id} wait, ${Math.round(lagMs / 1000)} s by now: ${STALLED_WORDS[stalled]}`,
        ],
  );
}

/** Registers the gauges of the watchers, by chain. */
export function registerWatcherMetrics({ registry }: Metrics, statuses: ChainStatuses): void {
  registerContradictions(registry, {
    name: 'tollgate_payments_contradictions_total',
    read: async () =>
      statuses.watched.map(({ chain, status }) => ({
        chain: String(chain.id),
        contradictions: status().contradictions.counts(),
      })),
  });
  registerChainGauges(registry, {
    read: async () => (await statuses.all()).map(status => ({ ...status, chain: String(status.chain.id) })),
    gauges: [
      {
        name: 'tollgate_payments_watcher_head_block',
        help: 'Newest known block of a chain: its head at the latest poll, or the last block that was read',
        amountOf: ({ headBlock, scannedBlock }) => headBlock ?? scannedBlock,
      },
      {
        name: 'tollgate_payments_watcher_settled_block',
        help: 'Block of a chain up to which payments are settled',
        amountOf: ({ settledBlock }) => settledBlock,
      },
      {
        name: 'tollgate_payments_watcher_lag_seconds',
        help: 'Time since a chain was last scanned up to its head for payments',
        amountOf: ({ lagMs }) => lagMs / 1000,
      },
      {
        name: 'tollgate_payments_watcher_stalled',
        help: '1 while a chain is not read, nothing on it is settled, or its nodes show no new blocks',
        amountOf: ({ stalled }) => (stalled === undefined ? 0 : 1),
      },
      {
        name: 'tollgate_payments_set_aside',
        help: 'Transactions and blocks of a chain that no node returned whole, so that their payments wait',
        amountOf: ({ setAside }) => setAside,
      },
    ],
  });
}
