import type { Check } from '../http/health.ts';
import type { Metrics } from '../http/metrics.ts';
import type { ChainIndex } from '../indexer/index-service.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { type DiskSpaceSettings, diskSpace } from '../stores/disk-space.ts';
import type { BackendStatus } from './backends/port/backend.ts';
import { indexProgressOf } from './chain-status.ts';
import { backendName, type ServedChain } from './open-chain.ts';
import { type OpenIndexDeps, openChainIndex } from './open-index.ts';
import { readiness } from './readiness.ts';
import { type RunningIndexes, runningIndexes } from './running-indexes.ts';

export interface IndexWritersOptions {
  readonly chains: readonly Pick<
    ServedChain,
    'id' | 'name' | 'confirmations' | 'rpcUrls' | 'maxAnswerBytes' | 'abis' | 'backends'
  >[];
  readonly diskSpace?: DiskSpaceSettings;
  readonly fallback: OpenIndexDeps['fallback'];
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Keeps indexes up to date in a process that does not serve them. */
export interface IndexWriters extends Pick<RunningIndexes, 'progress' | 'whenComplete'> {
  /** Readiness by chain. */
  readonly checks: Readonly<Record<string, Check>>;
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
  metrics.watchIndex(() => opened.map(({ id, index }) => indexProgressOf(id, statusOf(index))));
  return {
    whenComplete: running.whenComplete,
    progress: running.progress,
    checks: readiness(
      opened.map(({ id, index }) => ({ id, backends: [{ kind: 'index', status: () => statusOf(index) }] })),
      { isFilled: () => true, clock, log },
    ),
    status: async () => ({
      chains: opened.map(statusBody),
      disks: disk.status(),
      warnings: [...running.warnings(), ...disk.warnings()],
    }),
    close: running.stop,
  };
}

function statusOf(index: ChainIndex): BackendStatus {
  const { complete, head, lag, lastLag, lagSeconds, stalled, unreadBlocks, unreadState } = index.status();
  return {
    ready: complete,
    head: head ?? undefined,
    lag: lag ?? undefined,
    lastLag: lastLag ?? undefined,
    lagSeconds: lagSeconds ?? undefined,
    stalled,
    incompleteBlocks: unreadBlocks,
    unreadState,
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
  };
}
