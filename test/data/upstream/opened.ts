import { BackendError } from '#data/backends/port/backend-error.ts';
import type { UpstreamReply } from '#data/backends/upstream/exchange.ts';
import {
  type GetOptions,
  openUpstream,
  type Upstream,
  type UpstreamOptions,
} from '#data/backends/upstream/upstream.ts';
import { createLogger, type Logger } from '#lib/logger.ts';
import { record } from '../../lab/json.ts';
import {
  type Behaviour,
  type ScriptedUpstream,
  type SeenRequest,
  startScriptedUpstream,
} from '../../lab/scripted-upstream.ts';
import { PATIENCE_MS, until } from '../../lab/until.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';

/** An upstream client over a scripted service. */
export interface Opened extends AsyncDisposable {
  readonly service: ScriptedUpstream;
  readonly upstream: Upstream;
  readonly clock: ManualClock;
  /** Log lines so far, parsed. */
  lines(): Record<string, unknown>[];
  /** Sends a GET to `path` with a generous deadline; waits before a retry are skipped. */
  get(path?: string, options?: Partial<GetOptions>): Promise<UpstreamReply>;
  /** Failure of a GET. */
  failure(path?: string, options?: Partial<GetOptions>): Promise<BackendError>;
  /** Failure of a GET whose deadline passes once its request has arrived and `meanwhile` is done. */
  timeout(
    path?: string,
    options?: Partial<GetOptions>,
    meanwhile?: () => Promise<unknown>,
  ): Promise<BackendError>;
}

/** Reason of a signal whose deadline has passed, as from `AbortSignal.timeout`. */
export function passed(): DOMException {
  return new DOMException('The operation was aborted due to timeout', 'TimeoutError');
}

/** A loopback port without a listener: it is reserved and never listened on. */
export const NOBODY = 'http://127.0.0.1:1/api/v2';

export async function opened(
  respond: (request: SeenRequest) => Behaviour | Promise<Behaviour>,
  options: Partial<UpstreamOptions> = {},
): Promise<Opened> {
  const service = await startScriptedUpstream(respond);
  const clock = manualClock();
  const { log, lines } = keptLog();
  const upstream = openUpstream({
    name: 'scripted',
    baseUrl: service.url,
    headers: {},
    judge: () => undefined,
    clock,
    log,
    version: '1.2.3',
    ...options,
  });

  async function get(path = '/blocks', request: Partial<GetOptions> = {}): Promise<UpstreamReply> {
    const pending = upstream.get(path, { signal: AbortSignal.timeout(PATIENCE_MS), ...request });
    // The only sleeper is a retry.
    const hurry = setInterval(() => clock.sleepers() > 0 && clock.advance(250), 5);
    return pending.finally(() => clearInterval(hurry));
  }

  async function failure(path?: string, request?: Partial<GetOptions>): Promise<BackendError> {
    const outcome = await get(path, request).catch((error: unknown) => error);
    if (outcome instanceof BackendError) return outcome;
    throw new Error('a back end error was expected', { cause: outcome });
  }

  async function timeout(
    path?: string,
    request: Partial<GetOptions> = {},
    meanwhile: () => Promise<unknown> = async () => {},
  ): Promise<BackendError> {
    const arrived = service.requests.length + 1;
    const deadline = new AbortController();
    const failed = failure(path, { ...request, signal: deadline.signal });
    await until(
      async () => service.requests.length,
      count => count >= arrived,
    );
    await meanwhile();
    deadline.abort(passed());
    return failed;
  }

  return {
    service,
    upstream,
    clock,
    lines,
    get,
    failure,
    timeout,
    async [Symbol.asyncDispose]() {
      await upstream.close();
      await service[Symbol.asyncDispose]();
    },
  };
}

function keptLog(): { log: Logger; lines: () => Record<string, unknown>[] } {
  const written: string[] = [];
  const log = createLogger({ level: 'debug', destination: { write: line => written.push(line) } });
  return { log, lines: () => written.map(line => record(JSON.parse(line))) };
}
