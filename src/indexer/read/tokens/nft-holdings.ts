import type { Address } from 'viem';
import { bytesColumn, hexOf, uintColumn, uintOf } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import type { NftType } from '#evm/token-id.ts';
import type { Page } from '../page.ts';

/** One id of a token that an address holds. */
export interface NftHoldingRow {
  token: Address;
  tokenId: bigint;
  type: NftType;
  /** How many of this id, at least 1. */
  value: bigint;
}

export interface NftHoldingQuery {
  holder: Address;
  /** Any of these. */
  types: readonly NftType[];
  after?: { token: Address; tokenId: bigint };
  limit: number;
}

/** One is an owner by the row of the instance, of the other kind by that of the balance. */
const BRANCHES = {
  'ERC-721': `select token, token_id, '' as value from token_instances
    where owner = ? and (token, token_id) > (?, ?) order by token, token_id limit ?`,
  'ERC-1155': `select token, token_id, value from token_balances
    where holder = ? and token_id <> '' and (token, token_id) > (?, ?) order by token, token_id limit ?`,
} as const;

/** NFTs of an address by contract and id: no transfer of another one moves an item to another page. */
export async function nftHoldings(
  handle: Handle,
  { holder, types, after, limit }: NftHoldingQuery,
): Promise<Page<NftHoldingRow>> {
  const found: { key: string; row: NftHoldingRow }[] = [];
  for (const type of new Set(types)) {
    const rows = await handle.raw<{ token: Buffer; token_id: string; value: string }[]>(BRANCHES[type], [
      bytesColumn(holder),
      after === undefined ? Buffer.alloc(0) : bytesColumn(after.token),
      after === undefined ? '' : uintColumn(after.tokenId),
      limit + 1,
    ]);
    for (const { token, token_id: tokenId, value } of rows) {
      const row = { token: hexOf(token), tokenId: uintOf(tokenId), type };
      found.push({
        key: `${row.token}${tokenId}`,
        row: { ...row, value: value === '' ? 1n : uintOf(value) },
      });
    }
  }
  found.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return { items: found.slice(0, limit).map(({ row }) => row), hasMore: found.length > limit };
}
