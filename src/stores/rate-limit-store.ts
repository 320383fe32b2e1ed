import { RateLimiterRedis } from 'rate-limiter-flexible';
import { openMigrated, type Schema } from '../db/migrate.ts';
import { type DatabaseOptions, remakeable } from '../db/open.ts';
import type { PostgresOptions } from '../db/postgres/options.ts';
import type { RequestCounters } from '../lib/request-counters.ts';
import { LIMITS_TABLE, postgresLimiter, storedLimit } from './database-counters.ts';
import { insured, type Limiters } from './insured-counters.ts';
import type { RedisClient } from './redis-connection.ts';
import { type StoreFailuresOptions, storeFailures } from './store-failures.ts';

/** Store in which several processes count requests together. */
export interface RateLimitStore {
  readonly counters: RequestCounters;
  close(): Promise<void>;
}

export type RateLimitStoreOptions = PostgresOptions | { readonly kind: 'redis'; readonly url: string };

interface Observers extends Pick<StoreFailuresOptions, 'metrics' | 'clock' | 'log'> {
  /** Longest wait of a request for the store, in milliseconds; 50 when absent. */
  readonly timeoutMs?: number;
}

const SETTING = 'rateLimitStore';
const TIMEOUT_MS = 50;
/**
 * Maximum number of statements that wait for the database. An abandoned statement counts until the database answers.
 */
const MAX_STATEMENTS = 200;
const SCHEMA_NAME = 'tollgate_limits';

/** Schema of a database that counts requests. */
export const LIMITS_SCHEMA: Schema = {
  title: 'database of the rate limits',
  setting: SETTING,
  migrations: [
    {
      name: 'rate limits',
      up: [
        // Columns that the library expects. Unlogged, so that nothing waits for the disk: a crash loses only the counts
        // of a minute.
        ({ unlogged }) => `create ${unlogged}table ${LIMITS_TABLE} (
          key varchar(255) primary key,
          points integer not null default 0,
          expire bigint
        )`,
      ],
    },
  ],
};

/**
 * Opens the store. While it does not answer, each process counts in its own memory.
 * @throws CannotStart when Redis refuses the connection or the database cannot be opened
 */
export async function openRateLimitStore(
  options: RateLimitStoreOptions,
  { timeoutMs = TIMEOUT_MS, ...observers }: Observers,
): Promise<RateLimitStore> {
  const meanwhile = 'the rate limit store fails: this process counts requests in its own memory';
  const failures = storeFailures({ ...observers, store: 'limits', meanwhile });
  if (options.kind === 'redis') {
    const { openRedis } = await import('./redis-connection.ts');
    const redis = await openRedis({
      ...options,
      title: 'Redis of the rate limits',
      setting: SETTING,
      failures,
    });
    const counters = insured(redisLimiters(redis.client), { failures, timeoutMs: timeoutMs });
    return { counters, close: async () => redis.close() };
  }
  const db = await openMigrated(limitsOptions(options), LIMITS_SCHEMA);
  const limiters: Limiters = (kind, points) => postgresLimiter(db, storedLimit(kind, points));
  const bounds = { timeoutMs: timeoutMs, mostRunning: MAX_STATEMENTS };
  return { counters: insured(limiters, { failures, ...bounds }), close: () => db.destroy() };
}

/** Options of the database with its own schema. The schemas of payments and indexes may be in the same database. */
export function limitsOptions(options: DatabaseOptions): DatabaseOptions {
  return remakeable(options, SCHEMA_NAME);
}

function redisLimiters(client: RedisClient): Limiters {
  return (kind, points) =>
    new RateLimiterRedis({
      ...storedLimit(`tollgate:${kind}`, points),
      storeClient: client,
      useRedisPackage: true,
      rejectIfRedisNotReady: true,
    });
}
