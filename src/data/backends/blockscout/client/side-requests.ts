import type { Clock } from '#lib/clock.ts';
import type { Upstream } from '../../upstream/upstream.ts';

/** Deadline of a side request in milliseconds, independent of its callers. */
const DEADLINE_MS = 5_000;
/** Time that a finished answer waits for its side request, in milliseconds. */
const WAIT_MS = 250;

/**
 * GETs supplementary data for an answer; undefined when it is unavailable. Concurrent requests for a path share one
 * GET. A caller's abort does not end it, because later callers use its result.
 */
export function sideRequests(upstream: Upstream): (path: string) => Promise<unknown> {
  const running = new Map<string, Promise<unknown>>();

  return path => {
    const shared = running.get(path);
    if (shared !== undefined) return shared;
    const asking = ask(path).finally(() => running.delete(path));
    running.set(path, asking);
    return asking;
  };

  async function ask(path: string): Promise<unknown> {
    try {
      return (await upstream.get(path, { signal: AbortSignal.timeout(DEADLINE_MS) })).body;
    } catch {
      return undefined; // the upstream logs the failure, and the answer omits the data
    }
  }
}

/** Waits for `main`, then briefly for `side`, which must not delay the answer. `side` must not reject. */
export async function withLateExtra<Main, Side>(
  main: Promise<Main>,
  side: Promise<Side | undefined>,
  clock: Clock,
): Promise<[Main, Side | undefined]> {
  const answer = await main;
  const pause = new AbortController();
  const waited = clock.sleep(WAIT_MS, pause.signal).then(
    () => undefined,
    () => undefined,
  );
  const found = await Promise.race([side, waited]);
  pause.abort();
  return [answer, found];
}
