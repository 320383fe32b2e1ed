import type { BackendConfig } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { VERSION } from '../lib/version.ts';
import type { Backend } from './backends/port/backend.ts';
import { thirdwebReply } from './backends/thirdweb/reply-judge.ts';
import { thirdwebBackend } from './backends/thirdweb/thirdweb-backend.ts';
import { openUpstream } from './backends/upstream/open-upstream.ts';
import type { Upstream } from './backends/upstream/upstream.ts';

/** Address of the service's API, `…/v1`, and the client id that its requests are charged to. */
export type ThirdwebOptions = Extract<BackendConfig, { kind: 'insight' }>;

/**
 * Opens thirdweb's service as a back end of one chain. Chains with the same address and client id share one upstream,
 * which is kept in `shared`. The caller closes it.
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
