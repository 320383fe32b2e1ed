import type { Metrics } from '../http/metrics.ts';
import type { ChainIndex } from '../indexer/index-service.ts';
import type { QueryPool } from '../indexer/query/threads/pool.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { MetadataDocuments } from './backends/own-index/source/metadata-documents.ts';
import type { Backend } from './backends/port/backend.ts';
import type { Upstream } from './backends/upstream/upstream.ts';
import type { Chain, NativeCoin } from './fallback/chain.ts';
import type { IndexBackendOptions } from './open-index.ts';
import { type IndexedChain, openOwnIndex } from './open-own-index.ts';
import type { BlockscoutOptions, ThirdwebOptions } from './open-remote.ts';

/** One chain as the data service serves it. */
export interface ServedChain extends IndexedChain {
  readonly name: string;
  readonly native: NativeCoin;
  /** In the order they are tried. */
  readonly backends: readonly (IndexBackendOptions | BlockscoutOptions | ThirdwebOptions)[];
}

export interface OpenChainOptions {
  /** Where indexes read the metadata of NFTs; without it only what lies on the chain is. */
  readonly documents?: MetadataDocuments;
  readonly fallback: { readonly timeoutMs: number };
  /** Threads for the queries of all indexes. */
  readonly pool?: QueryPool | undefined;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What an open chain holds on to, for whoever closes it. */
export interface Resources {
  readonly indexes: ChainIndex[];
  readonly upstreams: Upstream[];
  /** Those of them that several chains are asked for at once. */
  readonly shared: Map<string, Upstream>;
}

/** Opens a chain's back ends. What was opened is in `resources` also when another one cannot be. */
export async function openChain(
  chain: ServedChain,
  options: OpenChainOptions,
  { indexes, upstreams, shared }: Resources,
): Promise<Chain> {
  const { id, name, native, confirmations } = chain;
  const backends: Backend[] = [];
  for (const [position, settings] of chain.backends.entries()) {
    const own = `${settings.kind}-${id}${position === 0 ? '' : `-${position + 1}`}`;
    backends.push(await openBackend(own, settings));
  }
  return { id, name, native, confirmations, backends };

  async function openBackend(own: string, settings: ServedChain['backends'][number]): Promise<Backend> {
    if (settings.kind === 'index') {
      const { backend, index } = await openOwnIndex(own, settings, { ...options, chain });
      indexes.push(index);
      return backend;
    }
    // Loaded only where a chain has a remote back end, as the index is.
    const { openBlockscout, openThirdweb } = await import('./open-remote.ts');
    const { backend, upstream } =
      settings.kind === 'blockscout'
        ? openBlockscout(own, settings, { ...options, chain })
        : openThirdweb(own, settings, { ...options, chainId: id, shared });
    if (!upstreams.includes(upstream)) upstreams.push(upstream);
    return backend;
  }
}
