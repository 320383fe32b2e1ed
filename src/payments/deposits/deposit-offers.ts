import { DAY_MS } from '../../lib/clock.ts';
import type { ClockAndLog } from '../../lib/logger.ts';
import { startWorker } from '../../lib/worker.ts';
import type { ChainNode } from '../../node/chain-node.ts';
import type { ChainClient } from '../../node/client.ts';
import type { PaymentChain } from '../model/payment-chain.ts';
import { type FactoryFinding, findFactory } from './factory-finding.ts';

/** Chains that offer deposit addresses now, as far as this process has checked them. */
export interface DepositOffers {
  /** Sentence why a chain offers no deposit address now; undefined for one that does. */
  refusal(chainId: number): string | undefined;
  /** Chains whose configuration asks for deposit addresses. */
  readonly chains: readonly PaymentChain[];
}

/** Time after which a factory is checked again. */
const EVERY_MS = DAY_MS;
/** Time for which a check stands while too few nodes answer the next ones. */
const VALID_MS = 2 * DAY_MS;
/** Interval at which a change of the first node is noticed. */
const LOOK_MS = 60_000;
/** Time after which a check that failed is repeated; doubled by each further one. */
const RETRY_MS = 10_000;
const LONGEST_RETRY_MS = 10 * 60_000;

/** Latest checks of one chain. */
interface CheckedFactory {
  /** The node that was asked first at the latest check. */
  readonly leader: ChainNode | undefined;
  readonly checkedAt: number;
  readonly finding: FactoryFinding;
  /** Latest checks in a row without a factory that works. */
  readonly failures: number;
  /** Time of the latest check that found a factory which works; undefined after one that found it unusable. */
  readonly confirmedAt: number | undefined;
}

/**
 * Checks the factories at the start, daily, and when another node takes the lead (Decision 398).
 * A chain that has not been checked offers no deposit addresses; `firstCheck` resolves when all have been.
 */
export function startDepositOffers({
  chains: all,
  clientOf,
  clock,
  log,
}: ClockAndLog & {
  readonly chains: readonly PaymentChain[];
  readonly clientOf: (chainId: number) => ChainClient | undefined;
}): DepositOffers & { stop(): void; readonly firstCheck: Promise<void> } {
  const chains = all.filter(({ depositAddresses }) => depositAddresses !== undefined);
  const checked = new Map<number, CheckedFactory>();

  function isOffered({ confirmedAt }: CheckedFactory): boolean {
    return confirmedAt !== undefined && clock.now() - confirmedAt < VALID_MS;
  }

  function refusal(chainId: number): string | undefined {
    if (chains.every(({ id }) => id !== chainId))
      return sentence(chainId, 'the configuration does not ask for them');
    const latest = checked.get(chainId);
    if (latest === undefined) return sentence(chainId, 'the factory has not been checked yet');
    if (isOffered(latest)) return undefined;
    const { finding } = latest;
    return sentence(
      chainId,
      finding.kind === 'works' ? 'the check of the factory is too old' : finding.reason,
    );
  }

  async function check({ id, mode }: PaymentChain, client: ChainClient): Promise<void> {
    const before = checked.get(id);
    const [leader] = client.ranks.inTurn();
    if (before !== undefined && !isDue(before, leader)) return;
    const finding = await findFactory(client);
    const checkedAt = clock.now();
    const known = finding.kind === 'unknown' ? before?.confirmedAt : undefined;
    const confirmedAt = finding.kind === 'works' ? checkedAt : known;
    const said = before === undefined ? undefined : refusal(id);
    const failures = finding.kind === 'works' ? 0 : (before?.failures ?? 0) + 1;
    checked.set(id, { leader, checkedAt, finding, failures, confirmedAt });
    const says = refusal(id);
    if (says === undefined && (before === undefined || said !== undefined))
      log.info({ chainId: id }, 'the chain offers deposit addresses');
    // No operator asked for those of test networks.
    if (says !== undefined && says !== said) log[mode === 'live' ? 'warn' : 'info']({ chainId: id }, says);
  }

  const isDue = (latest: CheckedFactory, leader: ChainNode | undefined) =>
    leader !== latest.leader || waitMs(latest, clock.now()) <= 0;

  const { promise: firstCheck, resolve: endFirstCheck } = Promise.withResolvers<void>();
  const worker = startWorker(
    {
      name: 'check of deposit factories',
      async runOnce() {
        await Promise.all(
          chains.map(chain => {
            const client = clientOf(chain.id);
            return client && check(chain, client);
          }),
        ).finally(endFirstCheck);
        return 0;
      },
    },
    {
      pauseMs: () => {
        const waits = [...checked.values()].map(latest => waitMs(latest, clock.now()));
        return Math.max(0, Math.min(LOOK_MS, ...waits));
      },
      clock,
      log,
    },
  );

  // A check under way only writes to memory, so nothing waits for its nodes.
  return { refusal, chains, firstCheck, stop: () => void worker.stop() };
}

/** Time until the next check, in milliseconds. */
function waitMs({ checkedAt, failures }: CheckedFactory, now: number): number {
  const everyMs = failures === 0 ? EVERY_MS : Math.min(RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS);
  return everyMs - Math.abs(now - checkedAt);
}

/** A chain for new sessions: without deposit addresses while it offers none. */
export function chainOfNewSessions(
  chain: PaymentChain,
  { refusal }: Pick<DepositOffers, 'refusal'>,
): PaymentChain {
  return {
    ...chain,
    get depositAddresses() {
      return refusal(chain.id) === undefined ? chain.depositAddresses : undefined;
    },
  };
}

function sentence(chainId: number, reason: string): string {
  return `Chain ${chainId} offers no deposit addresses: ${reason}.`;
}
