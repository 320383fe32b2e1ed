import { type GuardedFetch, type GuardedFetchOptions, guardedFetch } from '#http/fetch/guarded-fetch.ts';
import type { Logger } from '#lib/logger.ts';

/** Requests to the gateways that contracts name (EIP-3668). The owner of a name chooses the addresses. */
export type Gateways = Pick<GuardedFetch, 'fetch' | 'close'>;

/** Time for one answer of a gateway. */
const ANSWER_MS = 4_000;
const MAX_ANSWER_BYTES = 256 * 1024;

/** Creates the fetcher for gateways: https and public addresses only, unless `rules` say otherwise (Decision 283). */
export function openGateways({
  log,
  rules = {},
}: {
  log: Logger;
  rules?: Pick<GuardedFetchOptions, 'allowedNetworks' | 'allowHttp' | 'lookup'> | undefined;
}): Gateways {
  const { allowedNetworks = [], allowHttp = false, lookup } = rules;
  const found = lookup === undefined ? {} : { lookup };
  return guardedFetch({
    allowedNetworks,
    allowHttp,
    ...found,
    timeoutMs: ANSWER_MS,
    maxBytes: MAX_ANSWER_BYTES,
    log,
  });
}
