import { type DatabaseOptions, fileOf } from '../db/open.ts';
import type { KnownAbi } from '../evm/abi/abi.ts';
import type { ChainIndex } from '../indexer/index-service.ts';
import type { QueryPool } from '../indexer/query/threads/pool.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { VERSION } from '../lib/version.ts';
import { createChainClient } from '../node/client.ts';
import type { DiskSpace } from '../stores/disk-space.ts';

/** Settings of a chain's own index, which is read from the chain's nodes. */
export interface IndexBackendOptions {
  readonly kind: 'index';
  /** SQLite file for this index alone, or a PostgreSQL database. */
  readonly database: DatabaseOptions;
  /** Path of the database setting in the configuration. */
  readonly setting?: string;
  readonly fromBlock: number;
  readonly pollMs: number;
  /** True when another process writes the index. */
  readonly isReadOnly?: boolean;
  /** True when the file is removed at the end of the run. It is small, and has no reserve (Decision 271). */
  readonly isDisposable?: boolean;
}

/** Settings that an index needs to read its chain. */
export interface ReadChain {
  readonly id: number;
  readonly confirmations: number;
  readonly rpcUrls: readonly string[];
  /** Most bytes of one answer of a node; 64 MiB when absent. */
  readonly maxAnswerBytes?: number | undefined;
  /** Contracts with a known ABI, some of them with their sources. */
  readonly abis: readonly KnownAbi[];
}

export interface OpenIndexDeps {
  readonly chain: ReadChain;
  readonly fallback: { readonly timeoutMs: number };
  readonly disk?: Pick<DiskSpace, 'writer'>;
  readonly pool?: QueryPool | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Opens the index of a chain by the name of its back end. The caller starts and stops it. */
export async function openChainIndex(
  name: string,
  { kind: _, isDisposable = false, ...options }: IndexBackendOptions,
  { chain, fallback, disk, pool, clock, log }: OpenIndexDeps,
): Promise<ChainIndex> {
  const { id, confirmations, rpcUrls, maxAnswerBytes, abis } = chain;
  // Loaded only if a chain has an index, because everything else works without one.
  const { openIndex } = await import('../indexer/index-service.ts');
  const client = createChainClient({
    id,
    rpcUrls,
    timeoutMs: fallback.timeoutMs,
    maxAnswerBytes,
    clock,
    log,
  });
  const role = options.isReadOnly === true ? 'data' : 'indexer';
  const hasRoom = isDisposable ? undefined : disk?.writer(name, fileOf(options.database));
  return openIndex({
    ...options,
    chain: { id, confirmations },
    client,
    abis,
    clock,
    pool,
    hasRoom,
    log: log.child({ role, version: VERSION }),
  });
}
