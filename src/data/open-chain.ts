import type { Address } from 'viem';
import type { KnownAbi } from '../evm/abi/abi.ts';
import type { Metrics } from '../http/metrics.ts';
import type { ChainIndex } from '../indexer/index-service.ts';
import type { QueryPool } from '../indexer/query/threads/pool.ts';
import type { Exchange } from '../indexer/read/tokens/markets.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { VERSION } from '../lib/version.ts';
import { createChainClient } from '../node/client.ts';
import { blockscoutBackend } from './backends/blockscout/blockscout-backend.ts';
import { keyHeader } from './backends/blockscout/key-header.ts';
import { blockscoutReply } from './backends/blockscout/reply-judge.ts';
import { indexBackend } from './backends/own-index/own-index-backend.ts';
import type { MetadataDocuments } from './backends/own-index/source/metadata-documents.ts';
import type { Backend } from './backends/port/backend.ts';
import { thirdwebReply as insightJudge } from './backends/thirdweb/reply-judge.ts';
import { insightBackend } from './backends/thirdweb/thirdweb-backend.ts';
import { openUpstream } from './backends/upstream/open-upstream.ts';
import type { Upstream } from './backends/upstream/upstream.ts';
import type { Chain } from './fallback/chain.ts';

/** Of the time for an answer, what a list may spend on reading on: the rest is for the page that it is reading then. */
const READ_ON_SHARE = 0.6;

/** Path of Blockscout's REST API; the instance's own pages answer HTML or 404 everywhere else. */
const API_PATH = '/api/v2';

/** One chain as the data service serves it. */
export interface ServedChain {
  readonly id: number;
  readonly name: string;
  readonly confirmations: number;
  readonly rpcUrls: readonly string[];
  /** Contracts whose interface is known, some of them with their sources. */
  readonly abis: readonly KnownAbi[];
  /** Where prices are read: a token that is a dollar, and what makes the pairs with it. */
  readonly prices?: Exchange;
  /** Where names are looked up. */
  readonly names?: { readonly registry: Address };
  /** In the order they are tried. */
  readonly backends: readonly (IndexBackendOptions | BlockscoutOptions | InsightOptions)[];
}

export interface IndexBackendOptions {
  readonly kind: 'index';
  /** Path of the SQLite file. */
  readonly file: string;
  readonly fromBlock: number;
  readonly pollMs: number;
}

export interface BlockscoutOptions {
  readonly kind: 'blockscout';
  /** Address of the instance's API, `…/api/v2`. */
  readonly url: string;
  readonly apiKey?: string | undefined;
}

export interface InsightOptions {
  readonly kind: 'insight';
  /** Address of the service's API, `…/v1`. */
  readonly url: string;
  readonly clientId?: string | undefined;
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
  resources: Resources,
): Promise<Chain> {
  const { id, name, confirmations, prices, names } = chain;
  const backends: Backend[] = [];
  for (const [position, settings] of chain.backends.entries()) {
    const own = `${settings.kind}-${id}${position === 0 ? '' : `-${position + 1}`}`;
    backends.push(await openBackend(own, settings));
  }
  return { id, name, confirmations, backends };

  async function openBackend(own: string, settings: ServedChain['backends'][number]): Promise<Backend> {
    if (settings.kind === 'blockscout') return openBlockscout(own, chain, settings, options, resources);
    if (settings.kind === 'insight') return openInsight(own, chain, settings, options, resources);
    return indexBackend({
      name: own,
      chainId: id,
      index: await openIndexOf(chain, settings, options, resources),
      ...(options.documents === undefined ? {} : { documents: options.documents }),
      ...(prices === undefined ? {} : { prices }),
      ...(names === undefined ? {} : { names: { ...names, clock: options.clock } }),
    });
  }
}

async function openIndexOf(
  { id, confirmations, rpcUrls, abis }: ServedChain,
  { file, fromBlock, pollMs }: IndexBackendOptions,
  { clock, log, fallback, pool }: OpenChainOptions,
  { indexes }: Resources,
): Promise<ChainIndex> {
  // Loaded only where a chain has an index: everything else works without one.
  const { openIndex } = await import('../indexer/index-service.ts');
  const client = createChainClient({ id, rpcUrls, timeoutMs: fallback.timeoutMs, log });
  const index = await openIndex({
    file,
    chain: { id, confirmations },
    client,
    abis,
    clock,
    log,
    fromBlock,
    pollMs,
    pool,
  });
  indexes.push(index);
  return index;
}

function openBlockscout(
  name: string,
  { id, confirmations }: ServedChain,
  { url, apiKey }: BlockscoutOptions,
  { clock, log, metrics, fallback }: OpenChainOptions,
  { upstreams }: Resources,
): Backend {
  if (!new URL(url).pathname.endsWith(API_PATH))
    log.warn({ chainId: id, backend: name }, `the address of a Blockscout usually ends in ${API_PATH}`);
  const headers = keyHeader(url, apiKey);
  const upstream = openUpstream({
    name,
    baseUrl: url,
    headers,
    judge: blockscoutReply,
    clock,
    log,
    version: VERSION,
  });
  upstreams.push(upstream);
  const backend = blockscoutBackend({
    name,
    chainId: id,
    confirmations,
    upstream,
    clock,
    readOnMs: READ_ON_SHARE * fallback.timeoutMs,
    log,
    onDropped: kind => metrics.droppedRecord({ chain: String(id), backend: name, kind }),
  });
  return { ...backend, isMetered: apiKey !== undefined };
}

function openInsight(
  name: string,
  { id }: ServedChain,
  { url, clientId }: InsightOptions,
  { clock, log }: OpenChainOptions,
  { upstreams, shared }: Resources,
): Backend {
  const headers: Record<string, string> = clientId === undefined ? {} : { 'x-client-id': clientId };
  const sharedAs = `${url} ${clientId ?? ''}`;
  const upstream =
    shared.get(sharedAs) ??
    openUpstream({ name, baseUrl: url, headers, judge: insightJudge, clock, log, version: VERSION });
  if (!shared.has(sharedAs)) upstreams.push(upstream);
  shared.set(sharedAs, upstream);
  const backend = insightBackend({ name, chainId: id, upstream, sharedAs, log });
  return { ...backend, isMetered: clientId !== undefined };
}
