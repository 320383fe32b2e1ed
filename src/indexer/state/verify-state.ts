import { bytesColumn } from '../../db/columns.ts';
import type { Db, Handle } from '../../db/open.ts';
import { execute, rowsOf } from '../../db/query.ts';
import { transaction } from '../../db/transaction.ts';
import type { ChainClient } from '../../node/client.ts';
import { blockStart } from '../schema/block-position.ts';
import type { IndexTables } from '../schema/columns.ts';
import type { ComputedIndexColumns } from '../schema/computed-columns.ts';
import { readHead } from '../schema/head.ts';
import { type Dirty, dirtyRow, type EntryKey, entryOf, markDirty } from '../schema/stale-state.ts';
import { touchedRows } from '../schema/touched-rows.ts';
import { compareState, type StateDifference } from './compare-state.ts';

interface VerificationDeps {
  readonly db: Db;
  readonly client: ChainClient;
  /** Called for each difference. */
  readonly onDifference: (difference: StateDifference) => void;
  /** True to have what differs read again, and counters counted again. */
  readonly isRepairing: boolean;
}

/** Part of an index to verify. */
interface VerificationBounds {
  /** First block whose state is compared. */
  readonly from: number;
  /** Entries after which no further blocks are begun. */
  readonly limit: number;
  /** True when no further blocks are to be begun. */
  readonly isOver: () => boolean;
}

/** What was verified. */
export interface Verification {
  readonly checked: number;
  readonly differing: number;
  /** Entries that the node did not give. */
  readonly unread: number;
  /** First block that was not begun; null when all were. */
  readonly next: number | null;
}

/** Blocks whose state is compared together. */
const BLOCKS = 10;
/** Entries requested together. */
const BATCH = 200;
/** Entries that are remembered, so that those of many blocks are compared once. */
const MOST_REMEMBERED = 500_000;

/**
 * Compares with the node, at the index's head, all state that the blocks of the index from `from` on have touched, and
 * the holders of their tokens with the balances of the index (Decision 309).
 * @throws when the node is away
 */
export async function verifyState(deps: VerificationDeps, bounds: VerificationBounds): Promise<Verification> {
  const { db } = deps;
  const last = (await readHead(db))?.number ?? -1;
  const seen = new Set<string>();
  let checked = 0;
  let differing = 0;
  let unread = 0;
  for (let block = bounds.from; block <= last; block += BLOCKS) {
    if (checked >= bounds.limit || bounds.isOver()) return { checked, differing, unread, next: block };
    const touched = await touchedBetween(db, block, block + BLOCKS);
    const entries = touched.filter(entry => !seen.has(Object.values(entry).join()));
    if (seen.size > MOST_REMEMBERED) seen.clear();
    for (const entry of entries) seen.add(Object.values(entry).join());
    for (let start = 0; start < entries.length; start += BATCH) {
      const result = await verifyBatch(deps, entries.slice(start, start + BATCH));
      differing += result.differing;
      unread += result.unread;
    }
    checked += entries.length;
  }
  return { checked, differing, unread, next: null };
}

async function verifyBatch(
  { db, client, onDifference, isRepairing }: VerificationDeps,
  entries: readonly Dirty[],
): Promise<{ differing: number; unread: number }> {
  const { differences, unread } = await compareState({ db, client }, entries);
  const counters = await wrongCounters(db, entries);
  for (const difference of [...differences, ...counters]) onDifference(difference);
  if (isRepairing && differences.length > 0) {
    await transaction(db, async handle => {
      const block = (await readHead(handle))?.number ?? 0;
      await markDirty(
        handle,
        differences.map(({ entry }) => dirtyRow(entry, block)),
      );
    });
  }
  if (isRepairing) for (const { entry } of counters) await transaction(db, handle => recount(handle, entry));
  return { differing: differences.length + counters.length, unread };
}

/** State that blocks `from` (inclusive) to `to` (exclusive) have touched. */
async function touchedBetween(db: Db, from: number, to: number): Promise<Dirty[]> {
  const queries = touchedRows(db.dialect, {
    ofRows: `id >= ${blockStart(from)} and id < ${blockStart(to)}`,
    ofBlocks: `number >= ${from} and number < ${to}`,
  });
  return (await rowsOf<EntryKey>(db, queries.join('\nunion\n'))).map(entryOf);
}

/** Most holders of a token that are counted. */
const MOST_HOLDERS = 100_000;

const HOLDERS = 'select distinct holder from token_balances where token = ?';

/** Tokens among these entries whose number of holders is not that of their balances. Larger tokens are left out. */
async function wrongCounters(db: Db, entries: readonly Dirty[]): Promise<StateDifference[]> {
  const wrong: StateDifference[] = [];
  for (const entry of entries.filter(({ kind }) => kind === 'token')) {
    const token = bytesColumn(entry.address);
    type Row = Pick<IndexTables['tokens'], 'holder_count'> & Pick<ComputedIndexColumns, 'row_count'>;
    const [row] = await rowsOf<Row>(
      db,
      `select holder_count, (select count(*) from (${HOLDERS} limit ${MOST_HOLDERS}) counted) as row_count
       from tokens where address = ?`,
      [token, token],
    );
    if (row === undefined || row.row_count >= MOST_HOLDERS || row.row_count === row.holder_count) continue;
    wrong.push({
      entry,
      indexed: `${row.holder_count} holders`,
      expected: `${row.row_count} by its balances`,
    });
  }
  return wrong;
}

async function recount(handle: Handle, { address }: Dirty): Promise<void> {
  const token = bytesColumn(address);
  await execute(
    handle,
    `update tokens set holder_count = (select count(*) from (${HOLDERS}) counted) where address = ?`,
    [token, token],
  );
}
