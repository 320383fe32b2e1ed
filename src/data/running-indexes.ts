import { clockWarnings } from '../db/database-clock.ts';
import type { ReadinessCheck } from '../http/health.ts';
import type { Metrics } from '../http/metrics.ts';
import type { ChainIndex } from '../indexer/index-service.ts';
import type { ClockAndLog } from '../lib/logger.ts';
import { type DiskSpaceSettings, diskSpace } from '../stores/disk-space.ts';
import { backendStatusOf } from './backends/own-index/own-index-backend.ts';
import { indexProgressOf, proofBody } from './chain-status.ts';
import { backendName, type IndexedChain, type OpenIndexDeps, openChainIndex } from './open-chain.ts';
import { readiness } from './readiness.ts';

/** All indexes of one process. */
interface RunningIndexes {
  start(): void;
  /** Brings every index to its node's current head. Rejects when a node is unreachable. */
  catchUp(): Promise<void>;
  /** Resolves when every index has caught up once. */
  whenComplete(): Promise<void>;
  /** Blocks indexed so far and blocks to index, over all chains; undefined until every node has reported its head. */
  progress(): { indexed: number; total: number } | undefined;
  /** Milliseconds by which the clock of this machine is ahead of those of the databases, at the most distant one. */
  aheadMs(): number;
  /** Asks the nodes of every index whether they name its chain. Never rejects. */
  askNodes(): Promise<void>;
  /** Warnings about indexes that do not move although they should, and about the clock of this machine. */
  warnings(): readonly string[];
  stop(): Promise<void>;
}

/** Groups indexes for one life cycle. The array may still grow before `start`. */
export function runningIndexes(indexes: readonly ChainIndex[]): RunningIndexes {
  async function catchUp(): Promise<void> {
    // An unreachable chain fails at once, but the other chains are still awaited.
    const runs = await Promise.allSettled(indexes.map(index => index.runOnce()));
    const failed = runs.find(run => run.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  function aheadMs(): number {
    const distances = indexes.map(index => index.aheadMs());
    return distances.reduce((most, ms) => (Math.abs(ms) > Math.abs(most) ? ms : most), 0);
  }

  return {
    start() {
      for (const index of indexes) index.start();
    },
    catchUp,
    whenComplete: async () => void (await Promise.all(indexes.map(index => index.whenComplete()))),
    progress() {
      let indexed = 0;
      let total = 0;
      for (const index of indexes) {
        const { head, nodeHead } = index.status();
        if (nodeHead === null) return undefined;
        indexed += (head ?? -1) + 1;
        total += nodeHead + 1;
      }
      return { indexed, total };
    },
    aheadMs,
    askNodes: async () => void (await Promise.all(indexes.map(index => index.proofs.askNodes()))),
    warnings: () => [
      ...indexes.map(index => index.warning()).filter(text => text !== undefined),
      ...clockWarnings('the database of an index', { aheadMs }),
    ],
    stop: async () => void (await Promise.all(indexes.map(index => index.stop()))),
  };
}

export interface IndexWritersOptions extends ClockAndLog {
  readonly chains: readonly IndexedChain[];
  readonly diskSpace?: DiskSpaceSettings;
  readonly fallback: OpenIndexDeps['fallback'];
  readonly metrics: Metrics;
}

/** Keeps indexes up to date in a process that does not serve them. */
export interface IndexWriters extends Pick<RunningIndexes, 'progress' | 'whenComplete'> {
  /** Readiness by chain. */
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
  /** State of the indexes, for the operator. */
  status(): Promise<object>;
  /** Stops the indexes, releases their leases and closes the databases. */
  close(): Promise<void>;
}

interface NamedIndex {
  readonly id: number;
  readonly name: string;
  readonly index: ChainIndex;
}

/**
 * Composition root of the role `indexer` when other processes have the role `data`. Rejects when an index cannot be
 * opened.
 */
export async function startIndexWriters(options: IndexWritersOptions): Promise<IndexWriters> {
  const { chains, metrics, clock, log } = options;
  const disk = diskSpace({ ...options.diskSpace, metrics, log });
  const opened: NamedIndex[] = [];
  const indexes: ChainIndex[] = [];
  const running = runningIndexes(indexes);
  try {
    for (const chain of chains) {
      for (const [position, backend] of chain.backends.entries()) {
        if (backend.kind !== 'index') continue;
        const index = await openChainIndex(backendName(backend, { chainId: chain.id, position }), backend, {
          ...options,
          disk,
          chain,
        });
        indexes.push(index);
        opened.push({ id: chain.id, name: chain.name, index });
      }
    }
  } catch (error) {
    await running.stop();
    throw error;
  }
  if (indexes.length === 0) log.warn('no chain has an index of our own: the indexer has nothing to do');
  running.start();
  metrics.watchClock('indexes', running.aheadMs);
  metrics.watchIndex(() => opened.map(({ id, index }) => indexProgressOf(id, backendStatusOf(index))));
  return {
    whenComplete: running.whenComplete,
    progress: running.progress,
    checks: readiness(
      opened.map(({ id, index }) => ({
        id,
        backends: [{ kind: 'index', status: () => backendStatusOf(index) }],
      })),
      { isFilled: () => true, clock, log },
    ),
    async status() {
      await running.askNodes();
      return {
        chains: opened.map(statusBody),
        disks: disk.status(),
        warnings: [...running.warnings(), ...disk.warnings()],
      };
    },
    close: running.stop,
  };
}

function statusBody({ id, name, index }: NamedIndex) {
  const { head, lag, lagSeconds, complete, stalled, unreadBlocks, unreadState } = index.status();
  return {
    id,
    name,
    writing: index.isWriter(),
    ready: complete,
    head_block: head,
    lag_blocks: lag,
    lag_seconds: lagSeconds,
    stalled,
    incomplete_blocks: unreadBlocks,
    unread_state: unreadState,
    ...proofBody(backendStatusOf(index)),
  };
}
