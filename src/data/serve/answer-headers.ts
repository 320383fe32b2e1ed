import type { Entry } from '../cache/entry.ts';
import { REVALIDATION_MS } from './lifetime.ts';

/** Origin of an answer: kept and fresh, made now, kept past its freshness, or made now past the cache. */
export type CacheResult = 'HIT' | 'MISS' | 'STALE' | 'BYPASS';

/** Headers that tell a client where an answer is from and how long it may keep it. */
export function headersOf(entry: Entry, result: CacheResult, now: number): Record<string, string> {
  const age = Math.max(0, Math.floor((now - entry.storedAt) / 1000));
  return {
    'X-Cache': result,
    Age: String(age),
    'Cache-Control': cacheControlOf(entry, now),
    'X-Chain-Id': entry.chainIds.join(', '),
    'X-Backend': entry.backends.join(', '),
  };
}

/** `max-age` is the whole lifetime: a cache subtracts `Age` itself (RFC 9111, 4.2). */
function cacheControlOf({ storedAt, freshUntil, revalidateUntil, final }: Entry, now: number): string {
  const maxAge = Math.floor((freshUntil - storedAt) / 1000);
  const isFresh = maxAge > 0 && now < freshUntil;
  if (final && isFresh) return `public, max-age=${maxAge}`;
  if (revalidateUntil !== undefined && maxAge > 0 && now < revalidateUntil)
    return `public, max-age=${maxAge}, stale-while-revalidate=${REVALIDATION_MS / 1000}`;
  return 'max-age=0, must-revalidate';
}
