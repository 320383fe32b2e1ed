import type { Address } from 'viem';
import { bytesColumn, hexOf, uintColumn, uintOf } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import { rowsOf } from '#db/query.ts';
import type { IndexTables } from '../../schema/columns.ts';
import type { Page } from '../page.ts';

/** A balance of a token. */
export interface TokenHolderRow {
  holder: Address;
  /** Only where the balance is of one id (ERC-1155). */
  tokenId: bigint | null;
  /** In the smallest unit; of ERC-721 the number of ids held. Never zero. */
  value: bigint;
}

interface TokenHolderQuery {
  token: Address;
  /** Only what comes behind this item. */
  after?: TokenHolderRow;
  limit: number;
}

/** Balances of a token, the largest first, then by holder and id, all descending. */
export async function tokenHolders(
  handle: Handle,
  { token, after, limit }: TokenHolderQuery,
): Promise<Page<TokenHolderRow>> {
  const { sql, bindings, order } = handle.dialect.keyRange({
    columns: ['token'],
    values: [bytesColumn(token)],
    keys: ['value', 'holder', 'token_id'],
    ...(after === undefined ? {} : { below: placeOf(handle, after) }),
    order: 'desc',
  });
  const rows = await rowsOf<Pick<IndexTables['token_balances'], 'holder' | 'token_id' | 'value'>>(
    handle,
    `select holder, token_id, value from token_balances where ${sql} order by ${order} limit ?`,
    [...bindings, limit + 1],
  );
  const items = rows.slice(0, limit).map(row => ({
    holder: hexOf(row.holder),
    tokenId: row.token_id === '' ? null : uintOf(row.token_id),
    value: uintOf(row.value),
  }));
  return { items, hasMore: rows.length > limit };
}

function placeOf({ dialect }: Handle, { value, holder, tokenId }: TokenHolderRow) {
  return [dialect.numeric(value), bytesColumn(holder), tokenId === null ? '' : uintColumn(tokenId)];
}
