import type { Address } from 'viem';
import { bytesColumn, hexOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { execute, rowsOf } from '../../db/query.ts';
import { insertTyped } from '../../db/rows.ts';
import { DIRTY_COLUMNS, type IndexTables } from './columns.ts';

/** Kinds of state to read again. The number is stored in the column. */
export const DIRTY_KINDS = { coin: 1, token: 2, balance: 3, instance: 4 } as const;

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

export function tokenOf(token: Address): Dirty {
  return { kind: 'token', address: token, holder: '', tokenId: '' };
}

/** `tokenId` is empty for ERC-20 and ERC-721, which have one balance per holder. */
export function tokenBalanceOf(pair: { token: Address; holder: Address; tokenId: string }): Dirty {
  return { kind: 'balance', address: pair.token, holder: pair.holder, tokenId: pair.tokenId };
}

export function instanceOf(token: Address, tokenId: string): Dirty {
  return { kind: 'instance', address: token, holder: '', tokenId };
}

type DirtyRow = Readonly<IndexTables['dirty']>;

export function dirtyRow({ kind, address, holder, tokenId }: Dirty): DirtyRow {
  return {
    kind: DIRTY_KINDS[kind],
    address: bytesColumn(address),
    holder: bytesColumn(holder),
    token_id: tokenId,
  };
}

export async function markDirty(handle: Handle, rows: readonly DirtyRow[]): Promise<void> {
  const into = { table: 'dirty', columns: DIRTY_COLUMNS, suffix: 'on conflict do nothing' };
  await insertTyped(handle, into, rows);
}

/** Next entries to read again. */
export async function nextDirty(handle: Handle, limit: number): Promise<Dirty[]> {
  const rows = await rowsOf<DirtyRow>(
    handle,
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

/** Deletes entries that have been read. Must run in the transaction that stores the values. */
export async function clean(handle: Handle, entries: readonly Dirty[]): Promise<void> {
  const isEntry = '(kind = ? and address = ? and holder = ? and token_id = ?)';
  await execute(
    handle,
    `delete from dirty where ${entries.map(() => isEntry).join(' or ')}`,
    entries.map(dirtyRow).flatMap(row => [row.kind, row.address, row.holder, row.token_id]),
  );
}

function kindOf(column: number): Dirty['kind'] {
  for (const kind of ['coin', 'token', 'balance', 'instance'] as const) {
    if (DIRTY_KINDS[kind] === column) return kind;
  }
  throw new Error(`Unknown kind of state: ${column}.`);
}
