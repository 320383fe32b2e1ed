import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.ts';

/** How long after a failed load the held answer goes out without waiting for another one. */
const OUTAGE_MS = 30_000;
/** Shortest time from one refresh to the next. */
const REFRESH_MS = 5_000;
/** Keys remembered; for one that is forgotten early somebody waits once more. */
const REMEMBERED = 10_000;

interface Outage {
  /** UTC milliseconds. */
  readonly failedAt: number;
  readonly refreshedAt: number | undefined;
}

/** The keys whose answers cannot be made anew at the moment, though an old one is held. */
export interface Outages {
  /** The load of a key has just failed. */
  began(key: string): void;
  /** The load of a key has told something, be it that there is nothing. */
  ended(key: string): void;
  /** Whether a load failed within the last 30 s, or a refresh after one is still running. */
  isOn(key: string): boolean;
  /** Runs the refresh unless one is running or was started within the last 5 s. It has to take care of its own failures. */
  refresh(key: string, load: () => Promise<void>): void;
}

/** In memory, bounded, by `Clock`. */
export function outages(clock: Clock): Outages {
  const known = new LRUCache<string, Outage>({ max: REMEMBERED });
  const refreshing = new Set<string>();
  return {
    began: key => void known.set(key, { failedAt: clock.now(), refreshedAt: known.get(key)?.refreshedAt }),
    ended: key => void known.delete(key),
    isOn(key) {
      const outage = known.get(key);
      return outage !== undefined && (refreshing.has(key) || clock.now() - outage.failedAt < OUTAGE_MS);
    },
    refresh(key, load) {
      const outage = known.get(key);
      const now = clock.now();
      if (outage === undefined || refreshing.has(key) || now - (outage.refreshedAt ?? 0) < REFRESH_MS) return;
      known.set(key, { ...outage, refreshedAt: now });
      refreshing.add(key);
      void load().finally(() => refreshing.delete(key));
    },
  };
}
