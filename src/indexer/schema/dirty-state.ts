import type { Address } from 'viem';
import { bytesColumn, hexOf, type RowOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { execute } from '../../db/query.ts';
import { insertTyped } from '../../db/rows.ts';
import type { RowIn } from '../../db/select/select.ts';
import { select } from './select.ts';
import { DIRTY_KINDS } from './state-tables.ts';
import { type IndexTables, TABLES } from './tables.ts';
import { type BlockSpan, touchedState } from './touched-state.ts';

/**
 * State of the chain that the index has to read again. `address` is an account (for `coin`) or a token.
 * `tokenId` is in column form, and empty when not applicable.
 */
export interface Dirty {
  kind: keyof typeof DIRTY_KINDS;
  address: Address;
  holder: Address | '';
  tokenId: string;
}

export function coinOf(address: Address): Dirty {
  return { kind: 'coin', address, holder: '', tokenId: '' };
}

/** `tokenId` is empty for ERC-20 and ERC-721, which have one balance per holder. */
export function tokenBalanceOf(pair: { token: Address; holder: Address; tokenId: string }): Dirty {
  return { kind: 'balance', address: pair.token, holder: pair.holder, tokenId: pair.tokenId };
}

/** Columns of an entry that a block writes. */
const { attempts: _attempts, due_at: _dueAt, ...MARK_COLUMNS } = TABLES.dirty.columns;
export type DirtyMark = Readonly<RowOf<typeof MARK_COLUMNS>>;

/** Row that marks an entry as touched by a block. */
export function dirtyRow({ kind, address, holder, tokenId }: Dirty, block: number): DirtyMark {
  return {
    kind: DIRTY_KINDS[kind],
    address: bytesColumn(address),
    holder: bytesColumn(holder),
    token_id: tokenId,
    block,
  };
}

const KEY = TABLES.dirty.key.join(', ');
/** An entry that waits for another attempt keeps its time. */
const AT_NEWEST = `on conflict (${KEY}) do update set block =
  case when excluded.block > dirty.block then excluded.block else dirty.block end`;

/** Marks entries of ascending blocks. */
export async function markDirty(handle: Handle, rows: readonly DirtyMark[]): Promise<void> {
  const newest = new Map(rows.map(row => [keyOf(row), row])).values();
  await insertTyped(handle, { table: 'dirty', columns: MARK_COLUMNS, suffix: AT_NEWEST }, [...newest]);
}

/** Marks all state that written blocks have touched. */
export async function markTouched(handle: Handle, span: BlockSpan): Promise<void> {
  const { sql, bindings } = touchedState(handle.dialect, span);
  await execute(
    handle,
    `insert into dirty (${KEY}, block) select ${KEY}, max(block) from (${sql}) touched
     where true group by ${KEY} ${AT_NEWEST}`,
    bindings,
  );
}

/** Marks all state that blocks have touched which are about to be removed. It is read at the block before them or later. */
export async function markRemoved(handle: Handle, span: BlockSpan): Promise<void> {
  const { sql, bindings } = touchedState(handle.dialect, span);
  await execute(
    handle,
    `insert into dirty (${KEY}, block) select distinct ${KEY}, cast(? as bigint) from (${sql}) touched where true
     on conflict (${KEY}) do update set block = excluded.block`,
    [span.from - 1, ...bindings],
  );
}

/** Names of all state that blocks have touched. */
export async function touchedIn(handle: Handle, span: BlockSpan): Promise<Dirty[]> {
  const { sql, bindings } = touchedState(handle.dialect, span);
  const rows = await TOUCHED.rows(handle, `from (${sql}) touched`, bindings);
  return rows.map(entryOf);
}

const TOUCHED = select({
  isDistinct: true,
  computed: {
    kind: ['count', 'kind'],
    address: ['bytes', 'address'],
    holder: ['bytes', 'holder'],
    token_id: ['uint256', 'token_id'],
  },
});

function keyOf({ kind, address, holder, token_id: tokenId }: DirtyMark): string {
  return `${kind}${address.toString('latin1')}${holder.toString('latin1')}${tokenId}`;
}

/** An entry with the number of its reads that failed. */
export interface DirtyEntry extends Dirty {
  readonly attempts: number;
}

/** Pauses before an entry is read again. They double from the shortest to the longest. */
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 10 * 60_000;

const ENTRY = select({ from: 'dirty', columns: ['kind', 'address', 'holder', 'token_id', 'attempts'] });

/** Next entries without a failed read. */
export async function nextFresh(handle: Handle, limit: number): Promise<DirtyEntry[]> {
  const first = 'where attempts = 0 order by kind, address, holder, token_id limit ?';
  return entriesOf(await ENTRY.rows(handle, first, [limit]));
}

/** Entries whose read failed and that are due again, longest due first. */
export async function nextDue(
  handle: Handle,
  { now, limit }: { now: number; limit: number },
): Promise<DirtyEntry[]> {
  // A time that no pause explains is from a clock that was set back since.
  const due = 'where attempts > 0 and (due_at <= ? or due_at > ?) order by due_at limit ?';
  return entriesOf(await ENTRY.rows(handle, due, [now, now + LONGEST_PAUSE_MS, limit]));
}

/** Columns that name an entry. */
type EntryKey = Pick<IndexTables['dirty'], 'kind' | 'address' | 'holder' | 'token_id'>;

function entryOf(row: EntryKey): Dirty {
  return {
    kind: kindOf(row.kind),
    address: hexOf(row.address),
    holder: row.holder.length === 0 ? '' : hexOf(row.holder),
    tokenId: row.token_id,
  };
}

function entriesOf(rows: readonly RowIn<typeof ENTRY>[]): DirtyEntry[] {
  return rows.map(row => ({ ...entryOf(row), attempts: row.attempts }));
}

/** True for an entry that has to be read again. */
export async function isDirty(handle: Handle, entry: Dirty): Promise<boolean> {
  const rows = await ENTRY.rows(handle, `where ${isAnyOf([entry])}`, keysOf([entry]));
  return rows.length > 0;
}

/**
 * Deletes entries that have been read at `block`, unless a later block has marked them since. Must run in the
 * transaction that stores the values.
 */
export async function clean(handle: Handle, entries: readonly Dirty[], block: number): Promise<void> {
  if (entries.length === 0) return;
  await execute(handle, `delete from dirty where block <= ? and ${isAnyOf(entries)}`, [
    block,
    ...keysOf(entries),
  ]);
}

/** Puts the next read of entries behind fresh ones, and with `pauses` off, each time twice as long. */
export async function postponeEntries(
  handle: Handle,
  entries: readonly DirtyEntry[],
  { now, pauses }: { now: number; pauses: boolean },
): Promise<void> {
  for (const [attempts, alike] of Map.groupBy(entries, entry => entry.attempts)) {
    const pauseMs = pauses ? Math.min(SHORTEST_PAUSE_MS * 2 ** attempts, LONGEST_PAUSE_MS) : 0;
    await execute(handle, `update dirty set attempts = ?, due_at = ? where ${isAnyOf(alike)}`, [
      attempts + 1,
      now + pauseMs,
      ...keysOf(alike),
    ]);
  }
}

const isAnyOf = (entries: readonly Dirty[]) =>
  `(${entries.map(() => '(kind = ? and address = ? and holder = ? and token_id = ?)').join(' or ')})`;

const keysOf = (entries: readonly Dirty[]) =>
  entries.map(entry => dirtyRow(entry, 0)).flatMap(row => [row.kind, row.address, row.holder, row.token_id]);

function kindOf(column: number): Dirty['kind'] {
  for (const kind of ['coin', 'token', 'balance', 'instance'] as const) {
    if (DIRTY_KINDS[kind] === column) return kind;
  }
  throw new Error(`Unknown kind of state: ${column}.`);
}
