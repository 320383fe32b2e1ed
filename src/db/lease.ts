import type { Clock } from '../lib/clock.ts';
import { newId } from '../lib/ids.ts';
import { WRONG_CLOCK_MS } from './database-clock.ts';
import type { Handle, Transaction } from './open.ts';
import { execute, rowLock, rowsOf, type Sql } from './query.ts';

/**
 * Columns that allow workers to lease rows of a table with a text column `id`. `next_attempt_at` is null when no work
 * is left. Index it: `create index … on … (next_attempt_at) where next_attempt_at is not null`.
 */
export const LEASE_COLUMNS = { next_attempt_at: 'time', locked_until: 'time', locked_by: 'text' } as const;

/** Releases a leased row in an `update`, as SQL and as values for the builder. */
export const RELEASE_LEASE = 'locked_until = null, locked_by = null';
export const RELEASE_LEASE_VALUES = { locked_until: null, locked_by: null } as const;

/** Columns of every row in such a table. */
export interface LeasableRow {
  id: string;
  next_attempt_at: number | null;
  locked_until: number | null;
  locked_by: string | null;
}

interface TakeOptions {
  /** Maximum number of rows. */
  limit: number;
  /** Duration of the lease in milliseconds: at least twice the longest duration of the work. */
  leaseMs: number;
  /** Additional condition, with the table's column names. */
  where?: Sql;
  /** Additional changes on leasing, such as `attempts = attempts + 1`. */
  set?: Sql;
}

/** Leased rows, longest due first. */
interface LeasedRows<Row> {
  rows: Row[];
  /** Identifies this lease to `settle`. It is unique per call of `take`, even for the same worker. */
  token: string;
}

/**
 * Due rows of a table with `LEASE_COLUMNS`, each leased by one worker at a time. Rows of a crashed worker become due
 * again. All times come from the clock, none from the database.
 */
export function dueRows<Row extends LeasableRow>(table: string, clock: Clock) {
  const isDue = 'next_attempt_at <= ? and (locked_until is null or locked_until <= ?)';

  return {
    /** False when no row is due. Call it outside a transaction, which on SQLite blocks other writers. */
    async isAny(handle: Handle): Promise<boolean> {
      const sql = `select id from ${table} where next_attempt_at <= ? limit 1`;
      return (await rowsOf(handle, sql, [clock.now()])).length > 0;
    },

    /** Locks due rows until the transaction ends, longest due first, for work within the transaction. */
    lock(handle: Transaction, limit: number): Promise<Row[]> {
      const now = clock.now();
      return rowsOf<Row>(
        handle,
        `select * from ${table} where ${isDue}
         order by next_attempt_at, id limit ?${rowLock(handle, 'for update skip locked')}`,
        [now, now, limit],
      );
    },

    /** Leases due rows with one statement. It needs no transaction, and concurrent calls never lease the same row. */
    async take(
      handle: Handle,
      { limit, leaseMs, where = ALWAYS, set = NOTHING }: TakeOptions,
    ): Promise<LeasedRows<Row>> {
      const now = clock.now();
      const token = newId('lease');
      // Materialized: a plan that runs the selection twice would lock and skip rows that it then does not lease. The
      // update selects by id alone, because selected rows are locked (or protected by SQLite's single writer) and stay
      // due. Repeating the condition could make PostgreSQL, with outdated statistics, scan all due rows.
      const rows = await rowsOf<Row>(
        handle,
        `with due as materialized (
           select id from ${table} where ${isDue} and (${where.sql})
           order by next_attempt_at, id limit ?${rowLock(handle, 'for update skip locked')}
         )
         update ${table} set locked_by = ?, locked_until = ?${andAlso(set)}
         where id ${handle.dialect.among('select id from due')}
         returning *`,
        [now, now, ...where.bindings, limit, token, now + leaseMs, ...set.bindings],
      );
      return { rows: rows.sort(byDueTime), token };
    },

    /**
     * Writes the outcome, including `next_attempt_at` (null when done), and releases the row. Returns false and writes
     * nothing when the lease expired and another worker leased the row; that worker then produces the outcome.
     */
    async settle(
      handle: Handle,
      { id, token, set }: { id: string; token: string; set: Sql },
    ): Promise<boolean> {
      const changed = await execute(
        handle,
        `update ${table} set ${RELEASE_LEASE}${andAlso(set)} where id = ? and locked_by = ?`,
        [...set.bindings, id, token],
      );
      return changed === 1;
    },
  };
}

const ALWAYS: Sql = { sql: '1 = 1', bindings: [] };
const NOTHING: Sql = { sql: '', bindings: [] };

function andAlso({ sql }: Sql): string {
  return sql === '' ? '' : `, ${sql}`;
}

/**
 * Time (UTC ms) beyond which no lease of this length can end. A later one was taken before the clock was set back.
 */
export function endOfLeases(now: number, leaseMs: number): number {
  return now + leaseMs + WRONG_CLOCK_MS;
}

/** Ends leases that are further ahead than `leaseMs` allows. Their rows are due, because only due rows are leased. */
export async function endLeasesAhead(
  handle: Handle,
  { table, now, leaseMs }: { table: string; now: number; leaseMs: number },
): Promise<void> {
  await execute(
    handle,
    `update ${table} set locked_until = ?,
       next_attempt_at = case when next_attempt_at between ? and locked_until then ? else next_attempt_at end
     where locked_until > ?`,
    [now, now, now, endOfLeases(now, leaseMs)],
  );
}

/** `returning` guarantees no order. */
function byDueTime(a: LeasableRow, b: LeasableRow): number {
  return (a.next_attempt_at ?? 0) - (b.next_attempt_at ?? 0) || (a.id < b.id ? -1 : 1);
}
