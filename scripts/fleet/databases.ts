import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type OwnPostgres, startOwnPostgres } from '../../test/lab/own-postgres.ts';
import { startPgBouncer } from '../../test/lab/pgbouncer.ts';

/** PostgreSQL of the fleet: a primary and its standby, each also behind a PgBouncer that pools by transaction. */
export interface FleetDatabases {
  readonly primary: OwnPostgres;
  /** Address of both servers. */
  readonly url: string;
  /** The same through the poolers. */
  readonly pooledUrl: string;
  /** Stops the primary, and makes the standby the new one after `downMs`. Only once. */
  failOver(downMs: number): Promise<void>;
}

const FOLLOWS_WITHIN_MS = 20_000;
const LOOK_EVERY_MS = 100;

/** Starts the servers and the poolers. */
export async function startDatabases(stack: AsyncDisposableStack): Promise<FleetDatabases> {
  const primary = stack.use(await startOwnPostgres());
  const standbyUrl = await primary.addStandby();
  const poolers = [stack.use(await startPgBouncer(primary.url)), stack.use(await startPgBouncer(standbyUrl))];
  const sockets = [primary.url, standbyUrl].map(url =>
    encodeURIComponent(new URL(url).searchParams.get('host') ?? ''),
  );
  return {
    primary,
    url: `postgres://postgres@${sockets.join(',')}/postgres?target_session_attrs=read-write`,
    pooledUrl: `postgres://postgres@${poolers.map(({ url }) => new URL(url).host).join(',')}/postgres`,
    async failOver(downMs) {
      // A standby that does not follow would lose what the primary has committed.
      const follows = "select 1 from pg_stat_replication where state = 'streaming'";
      const deadline = Date.now() + FOLLOWS_WITHIN_MS;
      while ((await sentTo(primary.url, follows)) === 0) {
        if (Date.now() > deadline) throw new Error('the standby does not follow the primary');
        await delay(LOOK_EVERY_MS);
      }
      await primary.stop();
      await delay(downMs);
      await sentTo(standbyUrl, 'select pg_promote()');
    },
  };
}

/** Sends a statement. Returns the number of its rows. */
async function sentTo(url: string, sql: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rowCount } = await client.query(sql).finally(() => client.end());
  return rowCount ?? 0;
}
