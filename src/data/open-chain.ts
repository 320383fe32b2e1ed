import { createChainClient } from '../chain/client.ts';
import type { Metrics } from '../http/metrics.ts';
import type { ChainIndex } from '../indexer/index-service.ts';
import type { KnownAbi } from '../indexer/reader/abi.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { VERSION } from '../lib/version.ts';
import { blockscoutBackend } from './backends/blockscout/blockscout-backend.ts';
import { judge } from './backends/blockscout/judge.ts';
import { keyHeader } from './backends/blockscout/key-header.ts';
import { indexBackend } from './backends/index/index-backend.ts';
import type { Chain } from './chains/chain.ts';
import type { Backend } from './port/backend.ts';
import { openUpstream } from './upstream/open-upstream.ts';
import type { Upstream } from './upstream/upstream.ts';

/** Of the time for an answer, what a list may spend on reading on: the rest is for the page that it is reading then. */
const READ_ON_SHARE = 0.6;

/** One chain as the data service serves it. */
export interface ServedChain {
  readonly id: number;
  readonly name: string;
  readonly confirmations: number;
  readonly rpcUrls: readonly string[];
  /** Contracts whose interface is known, some of them with their sources. */
  readonly abis: readonly KnownAbi[];
  /** In the order they are tried. */
  readonly backends: readonly (IndexBackendOptions | BlockscoutOptions)[];
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

export interface OpenChainOptions {
  readonly fallback: { readonly timeoutMs: number };
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What an open chain holds on to, for whoever closes it. */
export interface Resources {
  readonly indexes: ChainIndex[];
  readonly upstreams: Upstream[];
}

/** Opens a chain's back ends. What was opened is in `resources` also when another one cannot be. */
export async function openChain(
  chain: ServedChain,
  options: OpenChainOptions,
  resources: Resources,
): Promise<Chain> {
  const { id, name, confirmations } = chain;
  const backends: Backend[] = [];
  for (const [position, settings] of chain.backends.entries()) {
    const own = `${settings.kind}-${id}${position === 0 ? '' : `-${position + 1}`}`;
    const backend =
      settings.kind === 'index'
        ? indexBackend({
            name: own,
            chainId: id,
            index: await openIndexOf(chain, settings, options, resources),
          })
        : openBlockscout(own, chain, settings, options, resources);
    backends.push(backend);
  }
  return { id, name, confirmations, backends };
}

async function openIndexOf(
  { id, confirmations, rpcUrls, abis }: ServedChain,
  { file, fromBlock, pollMs }: IndexBackendOptions,
  { clock, log, fallback }: OpenChainOptions,
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
  const headers = keyHeader(url, apiKey);
  const upstream = openUpstream({ name, baseUrl: url, headers, judge, clock, log, version: VERSION });
  upstreams.push(upstream);
  return blockscoutBackend({
    name,
    chainId: id,
    confirmations,
    upstream,
    clock,
    readOnMs: READ_ON_SHARE * fallback.timeoutMs,
    log,
    onDropped: kind => metrics.droppedRecord({ chain: String(id), backend: name, kind }),
  });
}
