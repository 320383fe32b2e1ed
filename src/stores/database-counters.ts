import {
  type IRateLimiterPostgresOptions,
  RateLimiterMemory,
  RateLimiterPostgres,
} from 'rate-limiter-flexible';
import type { Db } from '../db/open.ts';
import { counterOf, type RequestCounters, WINDOW_S } from '../lib/request-counters.ts';

/** Table that the library's PostgreSQL store expects, with the columns `key`, `points` and `expire`. */
export const LIMITS_TABLE = 'rate_limits';

/** Settings of one limit in a store. */
export function storedLimit(kind: string, points: number) {
  return { keyPrefix: kind, points, duration: WINDOW_S };
}

/** Creates a limiter over the table of a PostgreSQL database. */
export function postgresLimiter(
  db: Db,
  settings: Omit<IRateLimiterPostgresOptions, 'storeClient'>,
): RateLimiterPostgres {
  return new RateLimiterPostgres({
    ...settings,
    storeClient: db,
    storeType: 'knex',
    tableName: LIMITS_TABLE,
    tableCreated: true,
  });
}

/**
 * Counts in a PostgreSQL database that requests wait for anyway, or in memory while it does not answer. A refused
 * client costs no query until its minute ends.
 */
export function databaseCounters(db: Db): RequestCounters {
  return (kind, points) => {
    const insuranceLimiter = new RateLimiterMemory({ keyPrefix: kind, points, duration: WINDOW_S });
    const settings = { ...storedLimit(kind, points), inMemoryBlockOnConsumed: points + 1, insuranceLimiter };
    return counterOf(postgresLimiter(db, settings), points);
  };
}
