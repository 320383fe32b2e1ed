import { LRUCache } from 'lru-cache';
import type { Clock } from '#lib/clock.ts';

/** Filters that an instance refused: they are not sent again for an hour, for it may be upgraded meanwhile. */
export interface Refusals {
  has(operation: string, filters: Readonly<Record<string, string>>): boolean;
  add(operation: string, filters: Readonly<Record<string, string>>): void;
}

const REMEMBERED_MS = 3_600_000;
const MAX_REMEMBERED = 1_000;

export function refusals(clock: Clock): Refusals {
  const until = new LRUCache<string, number>({ max: MAX_REMEMBERED });
  const keyOf = (operation: string, filters: object) => `${operation} ${JSON.stringify(filters)}`;
  return {
    has: (operation, filters) => (until.get(keyOf(operation, filters)) ?? 0) > clock.now(),
    add(operation, filters) {
      until.set(keyOf(operation, filters), clock.now() + REMEMBERED_MS);
    },
  };
}
