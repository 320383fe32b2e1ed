import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import type { Knex } from 'knex';
import { systemClock } from '../lib/clock.ts';
import { Unavailable } from '../lib/unavailable.ts';
import type { Db, Handle, Transaction } from './open.ts';
import { rowsOf } from './query.ts';

/** Maximum time of retries before the conflict is reported to the caller. */
const RETRY_FOR_MS = 20_000;
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 100;

/**
 * Runs `work` in one transaction: committed when it resolves, rolled back when it rejects. Transactions are
 * serializable on both databases: SQLite takes the write lock at the beginning, PostgreSQL uses its serializable
 * isolation level. After a conflict the transaction waits and starts again, so `work` may run more than once. What it
 * changes outside its handle must be the same after a repetition. After `retryForMs` of conflicts, 20 s by default, it rejects with `Unavailable`.
 */
export function transaction<T>(
  db: Db,
  work: (handle: Transaction) => Promise<T>,
  retryForMs = RETRY_FOR_MS,
): Promise<T> {
  const isolationLevel = db.dialect.name === 'postgres' ? 'serializable' : undefined;
  return retried(db, () => begin(db, isolationLevel, work), retryForMs);
}

/**
 * Like `transaction()`, but on PostgreSQL each statement sees all earlier commits. For work that first takes its own
 * lock: a serializable transaction would not see changes made before it got the lock.
 */
export function lockedTransaction<T>(
  db: Db,
  work: (handle: Transaction) => Promise<T>,
  retryForMs = RETRY_FOR_MS,
): Promise<T> {
  const isolationLevel = db.dialect.name === 'postgres' ? 'read committed' : undefined;
  return retried(db, () => begin(db, isolationLevel, work), retryForMs);
}

/**
 * Locks a name against other processes on the same database until the transaction ends; false when another one holds
 * it. SQLite's transactions run one after the other anyway.
 */
export async function tryLock(handle: Transaction, name: string): Promise<boolean> {
  if (handle.dialect.name === 'sqlite') return true;
  const lock = createHash('sha256').update(name).digest().readBigInt64BE();
  const sql = 'select 1 as locked where pg_try_advisory_xact_lock(?::bigint)';
  return (await rowsOf(handle, sql, [lock.toString()])).length === 1;
}

/** True while a PostgreSQL server refuses writes, as a hot standby does. Of a file, only a write shows it. */
export async function isReadOnly(db: Db): Promise<boolean> {
  if (db.dialect.name === 'sqlite') return false;
  return (
    (await rowsOf(db, "select 1 as found where current_setting('transaction_read_only') = 'on'")).length > 0
  );
}

/** Connections that a PostgreSQL server accepts at once. A file has no such limit. */
export async function connectionLimit(db: Db): Promise<number> {
  if (db.dialect.name === 'sqlite') return Number.POSITIVE_INFINITY;
  const { rows } = await db.raw('show max_connections');
  return Number(rows[0].max_connections);
}

/** Limits each wait for a lock in this transaction; the resulting error may be retried. SQLite has no such locks. */
export async function limitLockWait(handle: Transaction, milliseconds: number): Promise<void> {
  if (handle.dialect.name === 'postgres') await handle.raw(`set local lock_timeout = ${milliseconds}`);
}

async function begin<T>(
  db: Db,
  isolationLevel: Knex.IsolationLevels | undefined,
  work: (handle: Transaction) => Promise<T>,
): Promise<T> {
  const { dialect } = db;
  const announced = new Set<string>();
  const result = await db.transaction(
    handle => work(Object.assign(handle, { dialect, announced, isTransaction: true as const })),
    isolationLevel === undefined ? {} : { isolationLevel },
  );
  if (announced.size > 0) db.wakeups.announce(announced);
  return result;
}

async function retried<T>(db: Db, attempt: () => Promise<T>, retryForMs = RETRY_FOR_MS): Promise<T> {
  const giveUpAt = systemClock.now() + retryForMs;
  for (let longest = FIRST_PAUSE_MS; ; longest = Math.min(longest * 2, LONGEST_PAUSE_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (!db.dialect.isRetryable(error)) throw error;
      if (systemClock.now() >= giveUpAt)
        throw error instanceof Unavailable ? error : new Unavailable('The database is busy now', error);
    }
    // Random, so that two conflicting transactions do not collide again.
    await systemClock.sleep(Math.random() * longest);
  }
}

/**
 * Identifies the storage of a database. It differs after a restore into another file, database or server, and on
 * PostgreSQL also after a recovery to an earlier time; a restore that writes into the same file keeps it. Undefined for a
 * database in memory, and where the server does not tell.
 */
export async function storageOf(handle: Handle): Promise<string | undefined> {
  return handle.dialect.name === 'sqlite' ? fileStorage(handle) : serverStorage(handle);
}

async function fileStorage(handle: Handle): Promise<string | undefined> {
  const [main] = await handle.raw('pragma database_list');
  const file: string = main?.file ?? '';
  if (file === '') return undefined;
  const { ino, birthtimeNs } = statSync(file, { bigint: true });
  return `${ino} ${birthtimeNs}`;
}

async function serverStorage(handle: Handle): Promise<string | undefined> {
  const rights = await handle.raw(
    `select has_function_privilege('pg_control_system()', 'execute')
       and has_function_privilege('pg_control_checkpoint()', 'execute') as may`,
  );
  if (rights.rows[0].may !== true) return undefined;
  const { rows } = await handle.raw(
    `select s.system_identifier || ' ' || c.timeline_id || ' ' || d.oid as storage
     from pg_control_system() s, pg_control_checkpoint() c, pg_database d where d.datname = current_database()`,
  );
  return rows[0].storage;
}
