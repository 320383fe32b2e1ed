import type { BackendConfig } from '../config/config.ts';
import type { Metrics } from '../http/metrics.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { VERSION } from '../lib/version.ts';
import { blockscoutBackend, keyHeader } from './backends/blockscout/blockscout-backend.ts';

import { blockscoutReply } from './backends/blockscout/reply-judge.ts';
import type { Backend } from './backends/port/backend.ts';
import { openUpstream } from './backends/upstream/open-upstream.ts';
import type { Upstream } from './backends/upstream/upstream.ts';

/** Of the time for an answer, what a list may spend on reading on: the rest is for the page that it is reading then. */
const READ_ON_SHARE = 0.6;

/** Path of Blockscout's REST API; the instance's own pages answer HTML or 404 everywhere else. */
const API_PATH = '/api/v2';

/** Address of the instance's API, `…/api/v2`, and the key that its requests are charged to. */
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
