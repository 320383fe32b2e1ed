import type { Clock } from '#lib/clock.ts';
import type { Upstream } from '../../upstream/upstream.ts';

/** How long what is asked beside an answer may take, whoever waits for it. */
const DEADLINE_MS = 5_000;
/** How long an answer that is ready waits for what is asked beside it. */
const PATIENCE_MS = 250;

/**
 * GETs a body that is only needed beside an answer; undefined when it cannot be had. Whoever asks for the same path
 * meanwhile shares the request, and nobody's leaving ends it: those who come next profit from what it brings.
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
      return undefined; // the upstream logs it, and the answer does without
    }
  }
}

/** The outcome of `side` if it is there soon after `main`, which it must not hold up. `side` must not reject. */
export async function withLateExtra<Main, Side>(
  main: Promise<Main>,
  side: Promise<Side | undefined>,
  clock: Clock,
): Promise<[Main, Side | undefined]> {
  const answer = await main;
  const pause = new AbortController();
  const waited = clock.sleep(PATIENCE_MS, pause.signal).then(
    () => undefined,
    () => undefined,
  );
  const found = await Promise.race([side, waited]);
  pause.abort();
  return [answer, found];
}
