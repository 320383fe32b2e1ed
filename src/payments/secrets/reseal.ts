import type { Db } from '../../db/open.ts';
import { execute, rowsOf } from '../../db/query.ts';
import { lockedTransaction } from '../../db/transaction.ts';
import { SealError, type Seals } from './sealed.ts';
import { SEALED_COLUMNS, type SealedColumn, sealedCell } from './sealed-columns.ts';
import { secretKeyStore } from './secret-key-store.ts';

/** The result of `reseal`. */
export interface ResealResult {
  /** Values that were moved to the current key. */
  readonly moved: number;
  /** Values that no known key opens. */
  readonly unopened: number;
  /** Ids of older keys that still seal values. The database needs no others beside the current one. */
  readonly remaining: readonly string[];
}

const BATCH = 100;

/**
 * Moves every sealed value to the current key, in small transactions, so the service goes on beside it. Started again
 * after an end half-way, it moves the rest. Keys that seal nothing afterwards are no longer needed by the database.
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

type SealedRow = Readonly<Record<string, string>>;

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
        // Only if it is still the value that was read: the service may have written another one meanwhile.
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

/** The next rows in the order of their primary key whose value is sealed with an older key. */
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
  const { sealed: from = '' } = row;
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
