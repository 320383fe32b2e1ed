import { LRUCache } from 'lru-cache';
import type { RequestCount, RequestCounter } from '#lib/request-counters.ts';

/** Maximum number of remembered names. An evicted one is counted once more. */
const MOST_NAMES = 10_000;

/** Counter that remembers its refusals until their minute ends. */
export interface RememberingCounter {
  readonly count: RequestCounter;
  /** Refusal of a name that still stands. The look-up counts nothing and needs no store. */
  standing(name: string): RequestCount | undefined;
}

/** Adds a memory of its refusals to a counter. Like the counters' stores, it measures in real time. */
export function remembering(counter: RequestCounter): RememberingCounter {
  const refusals = new LRUCache<string, { readonly count: RequestCount; readonly until: number }>({
    max: MOST_NAMES,
  });
  return {
    async count(name) {
      const count = await counter(name);
      if (count.isRefused) refusals.set(name, { count, until: performance.now() + count.msLeft });
      return count;
    },
    standing(name) {
      const refusal = refusals.get(name);
      const msLeft = (refusal?.until ?? 0) - performance.now();
      return refusal !== undefined && msLeft > 0 ? { ...refusal.count, msLeft } : undefined;
    },
  };
}

/** Time in which an address beyond its failures regains one look-up of an unknown credential, in milliseconds. */
const LOOK_UP_EVERY_MS = 500;
/** Look-ups in a row, so that a client that fails now and then does not block its neighbours' valid credentials. */
const LOOK_UPS_IN_A_ROW = 10;

/** Returns a test that allows a name ten uses in a row, and two per second after that. */
export function sparingly(): (name: string) => boolean {
  /** Time at which all uses of a name will be regained. */
  const regainedAt = new LRUCache<string, number>({ max: MOST_NAMES });
  return name => {
    const now = performance.now();
    const next = Math.max(regainedAt.get(name) ?? 0, now) + LOOK_UP_EVERY_MS;
    if (next - now > LOOK_UP_EVERY_MS * LOOK_UPS_IN_A_ROW) return false;
    regainedAt.set(name, next);
    return true;
  };
}
