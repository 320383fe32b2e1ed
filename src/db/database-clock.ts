import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import type { Db, Handle } from './open.ts';
import { rowsOf } from './query.ts';

/** Time of a database, and its distance from this machine's clock. */
export interface DatabaseClock extends Clock {
  /** Milliseconds by which the clock of this machine is at least ahead of the database's; negative when it is behind. */
  aheadMs(): number;
}

/** Distance from which a machine's clock counts as wrong, in milliseconds. */
export const WRONG_CLOCK_MS = 5_000;

/**
 * Clock of everything that several processes write into one database: leases, work that is due, ends of sessions. It
 * is the time of a PostgreSQL server, so that a machine whose clock is wrong disturbs no other one (Decision 312). On
 * SQLite, whose processes share a machine, and with a clock that a test sets, it is that clock. Logs a line when the
 * clock of the machine becomes wrong, and when it is right again. `name` is that of the database in sentences.
 */
export async function databaseClock(
  db: Db,
  clock: Clock,
  { name, log }: { name: string; log: Logger },
): Promise<DatabaseClock> {
  const { serverTime } = db;
  if (serverTime === undefined || clock.isOfMachine !== true) return { ...clock, aheadMs: () => 0 };
  const ofDatabase = {
    sleep: clock.sleep,
    now: () => serverTime.now() ?? clock.now(),
    aheadMs() {
      const aheadMs = clock.now() - (serverTime.now() ?? clock.now());
      return Math.sign(aheadMs) * Math.max(0, Math.abs(aheadMs) - serverTime.uncertaintyMs());
    },
  };
  let isWrong = false;
  serverTime.onReading(() => {
    const [warning] = clockWarnings(name, ofDatabase);
    if ((warning !== undefined) === isWrong) return;
    isWrong = warning !== undefined;
    if (warning !== undefined) log.warn({ aheadMs: ofDatabase.aheadMs() }, warning);
    else log.info(`the clock of this machine agrees with that of ${name} again`);
  });
  await readServerTime(db, db);
  return ofDatabase;
}

/** Corrects the time of the server by reading its clock. Has no effect on SQLite. */
export async function readServerTime({ serverTime }: Db, handle: Handle): Promise<void> {
  if (serverTime === undefined) return;
  const askedAt = serverTime.steady();
  // A `numeric`, as `extract` returns it, is read in another way by an index.
  const sql = 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as server_ms';
  const [row] = await rowsOf(handle, sql);
  const serverMs =
    typeof row === 'object' && row !== null && 'server_ms' in row ? Number(row.server_ms) : Number.NaN;
  if (Number.isFinite(serverMs)) serverTime.correct(serverMs, askedAt);
}

/** A sentence for the operator while the clock of this machine is wrong. */
export function clockWarnings(
  database: string,
  { aheadMs }: Pick<DatabaseClock, 'aheadMs'>,
): readonly string[] {
  const ms = aheadMs();
  if (Math.abs(ms) <= WRONG_CLOCK_MS) return [];
  const seconds = Math.round(Math.abs(ms) / 1_000);
  const direction = ms > 0 ? 'ahead of' : 'behind';
  return [`the clock of this machine is ${seconds} s ${direction} that of ${database}`];
}
