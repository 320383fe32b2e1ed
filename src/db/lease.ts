import type { Clock } from '../lib/clock.ts';
import { newId } from '../lib/ids.ts';
import type { Handle, Transaction } from './open.ts';
import { execute, rowLock, rowsOf, type Sql } from './query.ts';

/**
 * The columns that make a table with a text column `id` one whose rows can be taken. `next_attempt_at` is null when
 * there is nothing left to do. Index it: `create index … on … (next_attempt_at) where next_attempt_at is not null`.
 */
export const LEASE_COLUMNS = { next_attempt_at: 'time', locked_until: 'time', locked_by: 'text' } as const;

/** What lets go of a taken row in an `update`, as SQL and as values for the builder. */
export const LET_GO = 'locked_until = null, locked_by = null';
export const LET_GO_VALUES = { locked_until: null, locked_by: null } as const;

/** What every row of such a table has. */
export interface LeasableRow {
  id: string;
  next_attempt_at: number | null;
  locked_until: number | null;
  locked_by: string | null;
}

interface TakeOptions {
  /** At most so many rows. */
  limit: number;
  /** How long they are nobody else's, in milliseconds: at least twice what the work may take. */
  leaseMs: number;
  /** A further condition on the rows, in the names of the table. */
  where?: Sql;
  /** What else changes with the taking, such as `attempts = attempts + 1`. */
  set?: Sql;
}

/** Rows that are taken, the longest due first. */
interface LeasedRows<Row> {
  rows: Row[];
  /** Proves the taking to `settle`; no other taking has the same, not even one of the same worker. */
  token: string;
}

/**
 * The rows of a table with `LEASE_COLUMNS` that fall due, each taken by one worker at a time. What is crashed over falls
 * due again. All times come from the clock, none from the database.
 */
export function dueRows<Row extends LeasableRow>(table: string, clock: Clock) {
  const isDue = 'next_attempt_at <= ? and (locked_until is null or locked_until <= ?)';

  return {
    /** False when there is nothing to do now. Asked outside of a transaction, which on SQLite locks out other writers. */
    async isAny(handle: Handle): Promise<boolean> {
      const sql = `select id from ${table} where next_attempt_at <= ? limit 1`;
      return (await rowsOf(handle, sql, [clock.now()])).length > 0;
    },

    /** Rows that are nobody else's until the transaction ends, the longest due first: for work that ends with it. */
    lock(handle: Transaction, limit: number): Promise<Row[]> {
      const now = clock.now();
      return rowsOf<Row>(
        handle,
        `select * from ${table} where ${isDue}
         order by next_attempt_at, id limit ?${rowLock(handle, 'for update skip locked')}`,
        [now, now, limit],
      );
    },

    /** One statement: it needs no transaction, and no two that run at once take the same row. */
    async take(
      handle: Handle,
      { limit, leaseMs, where = ALWAYS, set = NOTHING }: TakeOptions,
    ): Promise<LeasedRows<Row>> {
      const now = clock.now();
      const token = newId('lease');
      // Materialized: a plan that ran the selection twice would lock, and skip, rows it then does not take. Found by
      // their ids alone: what is selected is locked, or SQLite's one writer's, so it stays due; and asked again whether
      // it is, PostgreSQL with statistics of a time when little was due would walk all that is.
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
     * Writes the outcome (`next_attempt_at` with it: null when done) and lets go of the row. False when the lease has
     * run out and another has taken the row: then nothing is written, and the outcome is the other's to find.
     */
    async settle(
      handle: Handle,
      { id, token, set }: { id: string; token: string; set: Sql },
    ): Promise<boolean> {
      const changed = await execute(
        handle,
        `update ${table} set ${LET_GO}${andAlso(set)} where id = ? and locked_by = ?`,
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

/** `returning` promises no order. */
function byDueTime(a: LeasableRow, b: LeasableRow): number {
  return (a.next_attempt_at ?? 0) - (b.next_attempt_at ?? 0) || (a.id < b.id ? -1 : 1);
}
