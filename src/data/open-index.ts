import type { DatabaseOptions } from '../db/open.ts';
import type { KnownAbi } from '../evm/abi/abi.ts';
import type { ChainIndex } from '../indexer/index-service.ts';
import type { QueryPool } from '../indexer/query/threads/pool.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { createChainClient } from '../node/client.ts';

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
  readonly pool?: QueryPool | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Opens the index of a chain. The caller starts and stops it. */
export async function openChainIndex(
  { kind: _, ...options }: IndexBackendOptions,
  { chain: { id, confirmations, rpcUrls, maxAnswerBytes, abis }, fallback, pool, clock, log }: OpenIndexDeps,
): Promise<ChainIndex> {
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
  return openIndex({ ...options, chain: { id, confirmations }, client, abis, clock, log, pool });
}
