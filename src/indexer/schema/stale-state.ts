import type { Address } from 'viem';
import { bytesColumn, hexOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { insertRows } from '../../db/rows.ts';
import { DIRTY_COLUMNS, type RowOf, valuesOf } from './columns.ts';

/** What kind of state has to be read again; the number is the column. */
export const DIRTY_KINDS = { coin: 1, token: 2, balance: 3, instance: 4 } as const;

/**
 * State of the chain that the index has to read again. `address` is an account (coin) or a token;
 * `tokenId` is in column form, and empty where it means nothing.
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

export function tokenOf(token: Address): Dirty {
  return { kind: 'token', address: token, holder: '', tokenId: '' };
}

/** `tokenId` is empty for ERC-20 and ERC-721, whose balance is one number a holder. */
export function tokenBalanceOf(pair: { token: Address; holder: Address; tokenId: string }): Dirty {
  return { kind: 'balance', address: pair.token, holder: pair.holder, tokenId: pair.tokenId };
}

export function instanceOf(token: Address, tokenId: string): Dirty {
  return { kind: 'instance', address: token, holder: '', tokenId };
}

export function dirtyRow({ kind, address, holder, tokenId }: Dirty): RowOf<typeof DIRTY_COLUMNS> {
  return {
    kind: DIRTY_KINDS[kind],
    address: bytesColumn(address),
    holder: bytesColumn(holder),
    token_id: tokenId,
  };
}

export async function markDirty(handle: Handle, rows: readonly RowOf<typeof DIRTY_COLUMNS>[]): Promise<void> {
  await insertRows(
    handle,
    { table: 'dirty', columns: DIRTY_COLUMNS, suffix: 'on conflict do nothing' },
    rows.map(row => valuesOf(DIRTY_COLUMNS, row)),
  );
}

/** The next entries to read again. */
export async function nextDirty(handle: Handle, limit: number): Promise<Dirty[]> {
  const rows = await handle.raw<{ kind: number; address: Buffer; holder: Buffer; token_id: string }[]>(
    'select kind, address, holder, token_id from dirty order by kind, address, holder, token_id limit ?',
    [limit],
  );
  return rows.map(row => ({
    kind: kindOf(row.kind),
    address: hexOf(row.address),
    holder: row.holder.length === 0 ? '' : hexOf(row.holder),
    tokenId: row.token_id,
  }));
}

/** Forgets entries that have been read. Must be in the transaction that stores what was read. */
export async function clean(handle: Handle, entries: readonly Dirty[]): Promise<void> {
  const keys = entries.map(() => '(?, ?, ?, ?)').join(', ');
  await handle.raw(
    `delete from dirty where (kind, address, holder, token_id) in (values ${keys})`,
    entries.flatMap(entry => valuesOf(DIRTY_COLUMNS, dirtyRow(entry))),
  );
}

function kindOf(column: number): Dirty['kind'] {
  for (const kind of ['coin', 'token', 'balance', 'instance'] as const) {
    if (DIRTY_KINDS[kind] === column) return kind;
  }
  throw new Error(`No kind of state has the number ${column}.`);
}

/** Whether all state has been read since it was last touched. */
export async function isStateFresh(handle: Handle): Promise<boolean> {
  const rows = await handle.raw<unknown[]>('select 1 from dirty limit 1');
  return rows.length === 0;
}
