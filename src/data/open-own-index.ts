import type { Address } from 'viem';
import type { DatabaseOptions } from '../db/open.ts';
import type { KnownAbi } from '../evm/abi/abi.ts';
import type { ChainIndex } from '../indexer/index-service.ts';
import type { QueryPool } from '../indexer/query/threads/pool.ts';
import type { Exchange } from '../indexer/read/tokens/markets.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { createChainClient } from '../node/client.ts';
import { indexBackend } from './backends/own-index/own-index-backend.ts';
import type { MetadataDocuments } from './backends/own-index/source/metadata-documents.ts';
import type { Backend } from './backends/port/backend.ts';

/** A chain's own index, read from the chain's nodes. */
export interface IndexBackendOptions {
  readonly kind: 'index';
  /** A file of SQLite's for this index alone, or a PostgreSQL database. */
  readonly database: DatabaseOptions;
  /** Path of the setting that names it. */
  readonly setting?: string;
  readonly fromBlock: number;
  readonly pollMs: number;
}

/** Opens the index of a chain as one of its back ends. The caller starts and stops the index. */
export async function openOwnIndex(
  name: string,
  { kind: _, ...options }: IndexBackendOptions,
  {
    chain: { id, confirmations, rpcUrls, abis, prices, names },
    documents,
    fallback,
    pool,
    clock,
    log,
  }: {
    readonly chain: IndexedChain;
    readonly documents?: MetadataDocuments;
    readonly fallback: { readonly timeoutMs: number };
    readonly pool?: QueryPool | undefined;
    readonly clock: Clock;
    readonly log: Logger;
  },
): Promise<{ backend: Backend; index: ChainIndex }> {
  // Loaded only where a chain has an index: everything else works without one.
  const { openIndex } = await import('../indexer/index-service.ts');
  const client = createChainClient({ id, rpcUrls, timeoutMs: fallback.timeoutMs, log });
  const chain = { id, confirmations };
  const index = await openIndex({ ...options, chain, client, abis, clock, log, pool });
  const backend = indexBackend({
    name,
    chainId: id,
    index,
    ...(documents === undefined ? {} : { documents }),
    ...(prices === undefined ? {} : { prices }),
    ...(names === undefined ? {} : { names: { ...names, clock } }),
  });
  return { backend, index };
}

/** What the index of a chain has to know of it. */
export interface IndexedChain {
  readonly id: number;
  readonly confirmations: number;
  readonly rpcUrls: readonly string[];
  /** Contracts whose interface is known, some of them with their sources. */
  readonly abis: readonly KnownAbi[];
  /** Where prices are read: a token that is a dollar, and what makes the pairs with it. */
  readonly prices?: Exchange;
  /** Where names are looked up. */
  readonly names?: { readonly registry: Address };
}
