import { entityTag } from '../../http/representation.ts';
import { namesTag } from '../../http/send.ts';
import { toJson } from '../../lib/json.ts';
import { type ClockAndLog, logAndGoOn } from '../../lib/logger.ts';
import type { CheckoutState } from './bodies.ts';

/** Interval at which the states of all awaited sessions are read, in one statement. */
const TICK_MS = 500;
/** Maximum numbers of waiting requests, per session and in total (Decision 129). */
const MAX_PER_SESSION = 10;
const MOST = 2_000;

/** A request that waits for a new state. */
interface StateWait {
  readonly sessionId: string;
  /** Value of its If-None-Match, which names the state that the client has. */
  readonly held: string;
  readonly waitMs: number;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/** Requests that wait for a change of their session, made by any process. */
export interface StateWaits {
  /**
   * Resolves when the session has a new state, at the end of the wait, when the client disconnects, and on `close`.
   * Resolves at once when too many requests wait.
   */
  change(wait: StateWait): Promise<void>;
  /** Number of waiting requests. */
  waiting(): number;
  /** Ends every wait, including those that begin later. */
  close(): Promise<void>;
}

export interface StateWaitsDeps extends ClockAndLog {
  readonly states: (ids: readonly string[]) => Promise<ReadonlyMap<string, CheckoutState>>;
}

interface Waiter {
  readonly held: string;
  readonly until: number;
  readonly leave: () => void;
}

/** Entity tag of a state, as in the answer. */
export function stateTag(state: CheckoutState): string {
  return entityTag(toJson(state));
}

/**
 * Creates waits that share one loop per process. Each round compares the clients' states with the stored ones, so no
 * change is missed.
 */
export function stateWaits({ states, clock, log }: StateWaitsDeps): StateWaits {
  const bySession = new Map<string, Set<Waiter>>();
  const closing = new AbortController();
  let count = 0;
  let loop: Promise<void> | undefined;

  async function rounds(): Promise<void> {
    while (bySession.size > 0) {
      await clock.sleep(TICK_MS, closing.signal).catch(() => undefined);
      if (closing.signal.aborted) return;
      await round().catch(logAndGoOn(log, 'reading the states that payers wait for'));
      release((_, { until }) => until <= clock.now());
    }
    loop = undefined;
  }

  async function round(): Promise<void> {
    if (bySession.size === 0) return;
    const known = await states([...bySession.keys()]);
    const tags = new Map([...known].map(([id, state]) => [id, stateTag(state)]));
    release((id, { held }) => {
      const tag = tags.get(id);
      return tag !== undefined && !namesTag(held, tag);
    });
  }

  function release(isDone: (sessionId: string, waiter: Waiter) => boolean): void {
    for (const [id, waiters] of bySession) {
      for (const waiter of [...waiters]) if (isDone(id, waiter)) waiter.leave();
    }
  }

  return {
    change({ sessionId, held, waitMs, signal }) {
      const waiters = bySession.get(sessionId) ?? new Set();
      const isFull = count >= MOST || waiters.size >= MAX_PER_SESSION;
      if (isFull || closing.signal.aborted || signal.aborted) return Promise.resolve();

      const { promise, resolve } = Promise.withResolvers<void>();
      const leave = () => {
        if (!waiters.delete(waiter)) return;
        count -= 1;
        if (waiters.size === 0) bySession.delete(sessionId);
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const waiter = { held, until: clock.now() + waitMs, leave };
      bySession.set(sessionId, waiters.add(waiter));
      count += 1;
      signal.addEventListener('abort', leave);
      loop ??= rounds();
      return promise;
    },

    waiting: () => count,

    async close() {
      closing.abort();
      release(() => true);
      await loop;
    },
  };
}
