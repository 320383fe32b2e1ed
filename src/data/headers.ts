import type { Entry } from './cache/entry.ts';

/** How an answer came about: kept and fresh, made now, kept past its life, or made now past the cache. */
export type CacheResult = 'HIT' | 'MISS' | 'STALE' | 'BYPASS';

/** What a client learns of where an answer is from and how long it may keep it. */
export function headersOf(entry: Entry, result: CacheResult, now: number): Record<string, string> {
  const age = Math.max(0, Math.floor((now - entry.storedAt) / 1000));
  const left = Math.max(0, Math.floor((entry.freshUntil - now) / 1000));
  return {
    'X-Cache': result,
    Age: String(age),
    'Cache-Control': entry.final && left > 0 ? `public, max-age=${left}` : 'max-age=0, must-revalidate',
    'X-Chain-Id': entry.chainIds.join(', '),
    'X-Backend': entry.backends.join(', '),
  };
}
