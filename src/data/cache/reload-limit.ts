import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.ts';

/** How often a client may force the same answer to be made again. */
const INTERVAL_MS = 10_000;
/** Keys remembered; one that is forgotten early is loaded once more than it should be. */
const REMEMBERED = 10_000;

/** Says whether an answer stored at that time may be made again now, and takes note if so, whatever comes of it. */
export function reloads(clock: Clock): (key: string, storedAt: number) => boolean {
  const lastTries = new LRUCache<string, number>({ max: REMEMBERED });
  return (key, storedAt) => {
    const now = clock.now();
    if (now - Math.max(storedAt, lastTries.get(key) ?? 0) < INTERVAL_MS) return false;
    lastTries.set(key, now);
    return true;
  };
}
