import type { Db } from '../../../src/db/open.ts';
import { rowsOf } from '../../../src/db/query.ts';
import { until } from '../../lab/until.ts';

/** Key of the lock that gated statements wait for. */
const LOCK = 437;

/** A gate before statements on PostgreSQL. */
export interface StatementGate extends AsyncDisposable {
  /** Resolves when this number of statements waits, at the gate or for a lock behind it. */
  waiting(count: number): Promise<unknown>;
  /** Lets the statements pass. */
  open(): Promise<void>;
}

/**
 * Has statements on a table of a PostgreSQL database wait: inserts, or updates of transactions that are not serializable, as
 * those of relay and replayer. An erasing is serializable, and passes.
 */
export async function statementGate(
  db: Db,
  table: string,
  operation: 'insert' | 'update',
): Promise<StatementGate> {
  await db.raw(`create function gate() returns trigger language plpgsql as $$ begin
    if tg_op = 'INSERT' or current_setting('transaction_isolation') = 'read committed' then
      perform pg_advisory_xact_lock(${LOCK});
    end if;
    return null;
  end $$`);
  await db.raw(
    `create trigger gate before ${operation} on ${table} for each statement execute function gate()`,
  );
  const closed = await db.transaction();
  await closed.raw(`select pg_advisory_xact_lock(${LOCK})`);
  const open = async () => {
    if (!closed.isCompleted()) await closed.commit();
  };
  return {
    open,
    waiting: count =>
      until(
        () =>
          rowsOf(
            db,
            "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
          ),
        rows => rows.length >= count,
      ),
    async [Symbol.asyncDispose]() {
      await open();
      await db.raw(`drop trigger gate on ${table}`);
      await db.raw('drop function gate()');
    },
  };
}
