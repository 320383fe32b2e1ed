import type { BackendConfig } from '../config/config.ts';
import type { Metrics } from '../http/metrics.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { VERSION } from '../lib/version.ts';
import { blockscoutBackend, keyHeader } from './backends/blockscout/blockscout-backend.ts';
import { blockscoutReply } from './backends/blockscout/reply-judge.ts';
import type { Backend } from './backends/port/backend.ts';
import { thirdwebReply } from './backends/thirdweb/reply-judge.ts';
import { thirdwebBackend } from './backends/thirdweb/thirdweb-backend.ts';
import { openUpstream, type Upstream } from './backends/upstream/upstream.ts';

/**
 * Share of the time limit after which a list starts no further upstream page. The rest is for the page being read then.
 */
const READ_ON_SHARE = 0.6;

/** Path of Blockscout's REST API. Elsewhere an instance answers HTML or 404. */
const API_PATH = '/api/v2';

/** Address of the instance's API, `…/api/v2`, and the API key its requests are charged to. */
export type BlockscoutOptions = Extract<BackendConfig, { kind: 'blockscout' }>;

/** Opens a Blockscout as a back end of one chain. The caller closes the upstream. */
export function openBlockscout(
  name: string,
  { url, apiKey }: BlockscoutOptions,
  {
    chain: { id, confirmations },
    clock,
    log,
    metrics,
    fallback,
  }: {
    readonly chain: { readonly id: number; readonly confirmations: number };
    readonly fallback: { readonly timeoutMs: number };
    readonly metrics: Metrics;
    readonly clock: Clock;
    readonly log: Logger;
  },
): { backend: Backend; upstream: Upstream } {
  if (!new URL(url).pathname.endsWith(API_PATH))
    log.warn({ chainId: id, backend: name }, `the address of a Blockscout usually ends in ${API_PATH}`);
  const upstream = openUpstream({
    name,
    baseUrl: url,
    headers: keyHeader(url, apiKey),
    judge: blockscoutReply,
    clock,
    log,
    version: VERSION,
  });
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
  return { backend: { ...backend, isMetered: apiKey !== undefined }, upstream };
}

/** Address of the service's API, `…/v1`, and the client id its requests are charged to. */
export type ThirdwebOptions = Extract<BackendConfig, { kind: 'insight' }>;

/**
 * Opens thirdweb's service as a back end of one chain. Chains with the same address and client id share one upstream
 * through `shared`. The caller closes it.
 */
export function openThirdweb(
  name: string,
  { url, clientId }: ThirdwebOptions,
  {
    chainId,
    shared,
    clock,
    log,
  }: {
    readonly chainId: number;
    readonly shared: Map<string, Upstream>;
    readonly clock: Clock;
    readonly log: Logger;
  },
): { backend: Backend; upstream: Upstream } {
  const sharedAs = `${url} ${clientId ?? ''}`;
  const upstream = shared.get(sharedAs) ?? open();
  shared.set(sharedAs, upstream);
  const backend = thirdwebBackend({ name, chainId, upstream, sharedAs, log });
  return { backend: { ...backend, isMetered: clientId !== undefined }, upstream };

  function open(): Upstream {
    const headers: Record<string, string> = clientId === undefined ? {} : { 'x-client-id': clientId };
    return openUpstream({ name, baseUrl: url, headers, judge: thirdwebReply, clock, log, version: VERSION });
  }
}
