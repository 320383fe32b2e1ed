import { createHash } from 'node:crypto';
import type { Address } from 'viem';
import { type DatabaseOptions, fileOf } from '../db/open.ts';
import type { KnownAbi } from '../evm/abi/abi.ts';
import type { Metrics } from '../http/metrics.ts';
import type { ChainIndex } from '../indexer/index-service.ts';
import type { QueryPool } from '../indexer/query/threads/pool.ts';
import type { Exchange } from '../indexer/read/tokens/markets.ts';
import { toJson } from '../lib/json.ts';
import type { ClockAndLog } from '../lib/logger.ts';
import { VERSION } from '../lib/version.ts';
import { createChainClient } from '../node/client.ts';
import type { Gateways } from '../node/names/gateways.ts';
import type { DiskSpace } from '../stores/disk-space.ts';
import { indexBackend } from './backends/own-index/own-index-backend.ts';
import type { MetadataDocuments } from './backends/own-index/source/metadata-documents.ts';
import type { Backend } from './backends/port/backend.ts';
import type { Upstream } from './backends/upstream/upstream.ts';
import { type Chain, chainKey, type NativeCoin } from './fallback/chain.ts';
import type { BlockscoutOptions, ThirdwebOptions } from './open-remote.ts';

/** One chain as the data service serves it. */
export interface ServedChain {
  readonly id: number;
  readonly name: string;
  readonly native: NativeCoin;
  readonly confirmations: number;
  readonly rpcUrls: readonly string[];
  /** Most bytes of one answer of a node; 64 MiB when absent. */
  readonly maxAnswerBytes?: number | undefined;
  /** Contracts with a known ABI, some of them with their sources. */
  readonly abis: readonly KnownAbi[];
  /** Source of prices: a dollar token, and the factory of its pairs. */
  readonly prices?: Exchange | undefined;
  /** Registry for name lookups. `readsGateways` allows names outside of the chain (Decision 283); false when absent. */
  readonly names?: { readonly registry: Address; readonly readsGateways?: boolean } | undefined;
  /** In the order they are tried. */
  readonly backends: readonly (IndexBackendOptions | BlockscoutOptions | ThirdwebOptions)[];
}

export interface OpenChainOptions extends ClockAndLog {
  /** Reader of NFT metadata at linked hosts. Without it, indexes serve only metadata that is on the chain. */
  readonly documents?: MetadataDocuments;
  /** Fetcher for the gateways of names; used for the chains that allow it. */
  readonly gateways?: Gateways;
  /** Gateway of the links to IPFS in answers. */
  readonly ipfsGateway?: string;
  readonly fallback: { readonly timeoutMs: number };
  readonly disk?: Pick<DiskSpace, 'writer'>;
  /** Threads for the queries of all indexes. */
  readonly pool?: QueryPool | undefined;
  readonly metrics: Metrics;
}

/** Open resources of the chains, for the caller to close. */
export interface Resources {
  readonly indexes: ChainIndex[];
  /** Those of chains that this process fills. */
  readonly filled: ChainIndex[];
  readonly upstreams: Upstream[];
  /** Upstreams that serve several chains, keyed by address and client id. */
  readonly shared: Map<string, Upstream>;
}

/**
 * Opens a chain's back ends. When one fails to open, those opened before it are still in `resources`, so that the
 * caller can close them.
 */
export async function openChain(
  chain: ServedChain,
  options: OpenChainOptions,
  { indexes, filled, upstreams, shared }: Resources,
): Promise<Chain> {
  const { id, name, native, confirmations } = chain;
  const backends: Backend[] = [];
  for (const [position, settings] of chain.backends.entries()) {
    backends.push(await openBackend(backendName(settings, { chainId: id, position }), settings));
  }
  const key = chainKey(id, settingsDigest(chain, options.ipfsGateway), backends);
  return { id, key, name, native, confirmations, backends };

  async function openBackend(own: string, settings: ServedChain['backends'][number]): Promise<Backend> {
    if (settings.kind === 'index') {
      const index = await openChainIndex(own, settings, { ...options, chain });
      indexes.push(index);
      if (settings.isDisposable === true) filled.push(index);
      const { prices, names } = chain;
      const gateways = names?.readsGateways === true ? options.gateways : undefined;
      return indexBackend({
        name: own,
        chainId: id,
        index,
        documents: options.documents,
        prices,
        names: names && { registry: names.registry, gateways, clock: options.clock },
      });
    }
    // Loaded only if a chain has a remote back end.
    const { openBlockscout, openThirdweb } = await import('./open-remote.ts');
    const { backend, upstream } =
      settings.kind === 'blockscout'
        ? openBlockscout(own, settings, { ...options, chain })
        : openThirdweb(own, settings, { ...options, chainId: id, shared });
    if (!upstreams.includes(upstream)) upstreams.push(upstream);
    return backend;
  }
}

/** Name of a back end by its kind, its chain and its position among the chain's back ends. */
export function backendName(
  { kind }: ServedChain['backends'][number],
  { chainId, position }: { chainId: number; position: number },
): string {
  return `${kind}-${chainId}${position === 0 ? '' : `-${position + 1}`}`;
}

/** Enough to tell configurations apart, and short in every cache key. */
const DIGEST_CHARACTERS = 16;

/**
 * Digest of the settings that affect a chain's answers. Keys, passwords and nodes are left out: replicas may differ in
 * them and still share answers.
 */
function settingsDigest(chain: ServedChain, ipfsGateway: string | undefined): string {
  const { native, confirmations, abis, prices, names } = chain;
  const { symbol, decimals } = native;
  const sources = chain.backends.map(one =>
    one.kind === 'index' ? [one.kind] : [one.kind, withoutUser(one.url)],
  );
  const digest = createHash('sha256');
  digest.update(toJson({ sources, symbol, decimals, confirmations, prices, names, ipfsGateway }));
  // Hashed one by one: all ABIs and sources together may exceed the longest string.
  for (const known of abis) digest.update(toJson(known));
  return digest.digest('base64url').slice(0, DIGEST_CHARACTERS);
}

function withoutUser(address: string): string {
  const url = new URL(address);
  url.username = '';
  url.password = '';
  return url.href;
}

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

/** Chain with an index that this process keeps up to date. */
export type IndexedChain = Pick<
  ServedChain,
  'id' | 'name' | 'confirmations' | 'rpcUrls' | 'maxAnswerBytes' | 'abis' | 'backends'
>;

export interface OpenIndexDeps extends ClockAndLog {
  readonly chain: IndexedChain;
  readonly fallback: { readonly timeoutMs: number };
  readonly disk?: Pick<DiskSpace, 'writer'>;
  readonly pool?: QueryPool | undefined;
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
