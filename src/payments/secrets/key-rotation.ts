import type { Db } from '../../db/open.ts';
import { execute, rowsOf } from '../../db/query.ts';
import { lockedTransaction, transaction } from '../../db/transaction.ts';
import { CannotStart } from '../../lib/startup-error.ts';
import type { Worker } from '../../lib/worker.ts';
import type { StatementColumns } from '../tables/computed-columns.ts';
import { SealError, type Seals, seals } from './sealed.ts';
import { readSecretKeys, type SecretKeySource } from './secret-key.ts';
import {
  SEALED_COLUMNS,
  type SealedColumn,
  type SealedKey,
  sealedCell,
  secretKeyStore,
} from './secret-key-store.ts';

const CANNOT = 'The secret key of payments cannot be used';

/**
 * Returns the configured keys and checks that they include all keys that the database needs. A missing key file is
 * created only when the database needs no key yet. `abandoned` is the fingerprint of a lost key. The database no longer
 * needs it afterwards.
 * @throws CannotStart when a key is missing; its message names the fingerprint and the source that was searched
 */
export async function openSeals(
  db: Db,
  source: SecretKeySource,
  { abandoned }: { abandoned?: string | undefined } = {},
): Promise<Seals> {
  const needed = (await secretKeyStore(db).needed()).filter(id => id !== abandoned);
  const secrets = await readSecretKeys(source, { mayCreate: needed.length === 0 }).catch(error => {
    const what = needed.length === 0 ? CANNOT : `${CANNOT}, and the database needs ${named(needed)}`;
    throw new CannotStart(what, error);
  });
  const opened = seals(secrets);
  const missing = needed.filter(id => !opened.keyIds.includes(id));
  if (missing.length > 0) throw missingKey(missing, opened, source);
  await transaction(db, async handle => {
    const keys = secretKeyStore(handle);
    if (abandoned !== undefined) await keys.remove(abandoned);
    // Records the current key. A database without recorded keys also gets those of its older values.
    for (const [index, id] of opened.keyIds.entries()) {
      const secret = secrets[index];
      if (secret !== undefined && (index === 0 || needed.includes(id))) await keys.add(seals([secret]));
    }
    // Another process may have started with another key on the same empty database.
    const unknown = await keys.unknownTo(opened);
    if (unknown.length > 0) throw missingKey(unknown, opened, source);
  });
  return opened;
}

/**
 * Records the current key again, because `reseal` in another process may have removed it. Values sealed by this process
 * need the key, so the database must not open without it.
 */
export function currentKeyWorker({ db, seals: current }: { db: Db; seals: Seals }): Worker {
  return {
    name: 'note of the secret key',
    async runOnce() {
      await secretKeyStore(db).add(current);
      return 0;
    },
  };
}

function missingKey(missing: readonly string[], { keyIds }: Seals, source: SecretKeySource): CannotStart {
  const origin = source.kind === 'file' ? source.file : 'payments.secretKey';
  return new CannotStart(
    CANNOT,
    new Error(`the database needs ${named(missing)}, and ${origin} has ${named(keyIds)}.`),
  );
}

function named(ids: readonly string[]): string {
  return `the ${ids.length === 1 ? 'key' : 'keys'} of fingerprint ${ids.join(', ')}`;
}

/** Result of `reseal`. */
interface ResealResult {
  /** Number of values moved to the current key. */
  readonly moved: number;
  /** Number of values that no known key opens. */
  readonly unopened: number;
  /** Ids of older keys that values are still sealed with. The database needs only these and the current key. */
  readonly remaining: readonly string[];
}

const BATCH = 100;

/**
 * Seals every value again with the current key, in small transactions, while the service runs. After an interruption,
 * the next run moves the rest. Removes the records of keys that seal nothing afterwards.
 */
export async function reseal(db: Db, seals: Seals): Promise<ResealResult> {
  const total = { moved: 0, unopened: 0 };
  for (const column of SEALED_COLUMNS) {
    const part = await resealColumn(db, column, seals);
    total.moved += part.moved;
    total.unopened += part.unopened;
  }
  const [current] = seals.keyIds;
  const keys = secretKeyStore(db);
  const remaining = (await keys.used()).filter(id => id !== current);
  for (const id of await keys.needed()) {
    if (id !== current && !remaining.includes(id)) await keys.remove(id);
  }
  return { ...total, remaining };
}

/** A sealed value and the primary key of its row. */
type SealedRow = Pick<StatementColumns, 'sealed'> & Partial<SealedKey>;

async function resealColumn(db: Db, column: SealedColumn, seals: Seals) {
  let moved = 0;
  let unopened = 0;
  let after: readonly string[] | undefined;
  for (;;) {
    const rows = await oldRows(db, column, { currentId: seals.keyIds[0], after });
    const last = rows.at(-1);
    if (last === undefined) return { moved, unopened };
    const changes = rows.map(row => changeOf(row, column, seals)).filter(change => change !== undefined);
    unopened += rows.length - changes.length;
    moved += await lockedTransaction(db, async handle => {
      let changed = 0;
      for (const { key, from, to } of changes) {
        // Only if the value is unchanged: the service may have written another one since.
        changed += await execute(
          handle,
          `update ${column.table} set ${column.column} = ?
           where ${column.key.map(name => `${name} = ?`).join(' and ')} and ${column.column} = ?`,
          [to, ...key, from],
        );
      }
      return changed;
    });
    after = keyOf(last, column);
  }
}

/** The next rows, by primary key, with a value that is sealed with an older key. */
function oldRows(
  db: Db,
  { table, column, key }: SealedColumn,
  { currentId, after }: { currentId: string; after: readonly string[] | undefined },
): Promise<SealedRow[]> {
  const names = key.join(', ');
  const beyond = after === undefined ? '' : `and (${names}) > (${key.map(() => '?').join(', ')})`;
  return rowsOf<SealedRow>(
    db,
    `select ${names}, ${column} as sealed from ${table}
     where ${column} is not null and ${column} not like ? ${beyond} order by ${names} limit ${BATCH}`,
    [`v1.${currentId}.%`, ...(after ?? [])],
  );
}

function changeOf(row: SealedRow, column: SealedColumn, { open, seal }: Seals) {
  const key = keyOf(row, column);
  const { sealed: from } = row;
  const cell = sealedCell(column, key);
  try {
    return { key, from, to: seal(open(from, cell), cell) };
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    return undefined;
  }
}

function keyOf(row: SealedRow, { key }: SealedColumn): string[] {
  return key.map(name => row[name] ?? '');
}
