import type { Figure } from './figure.ts';
import { overSqlite } from './growth/on-postgres.ts';
import { overPostgresHand } from './insights/on-postgres.ts';
import { benchPostgresSyncRate } from './sync-rate.ts';

/** Cost of an index on PostgreSQL. */
export async function benchIndexPostgres(): Promise<Figure[]> {
  return [...(await benchPostgresSyncRate()), ...(await overSqlite()), ...(await overPostgresHand())];
}
