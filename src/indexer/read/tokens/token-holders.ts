import type { Address } from 'viem';
import { bytesColumn, hexOf, uintColumn, uintOf } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import type { NftType } from '#evm/token-id.ts';
import { select } from '../../schema/select.ts';
import type { Page } from '../page.ts';

/** Balance of a token. */
export interface TokenHolderRow {
  holder: Address;
  /** Set only for the balance of one id (ERC-1155). */
  tokenId: bigint | null;
  /** Amount in the smallest unit; for ERC-721 the number of ids held. Never zero. */
  value: bigint;
}

interface TokenHolderQuery {
  token: Address;
  /** Only balances after this item. */
  after?: TokenHolderRow | undefined;
  limit: number;
}

/** Balances of a token, largest first, then by holder and id, all descending. */
export async function tokenHolders(
  handle: Handle,
  { token, after, limit }: TokenHolderQuery,
): Promise<Page<TokenHolderRow>> {
  const { sql, bindings, order } = handle.dialect.keyRange({
    columns: ['token'],
    values: [bytesColumn(token)],
    keys: ['value', 'holder', 'token_id'],
    below: after === undefined ? undefined : keysOf(handle, after),
    order: 'desc',
  });
  const rows = await select({ from: 'token_balances', columns: ['holder', 'token_id', 'value'] }).rows(
    handle,
    `where ${sql} order by ${order} limit ?`,
    [...bindings, limit + 1],
  );
  const items = rows.slice(0, limit).map(row => ({
    holder: hexOf(row.holder),
    tokenId: row.token_id === '' ? null : uintOf(row.token_id),
    value: uintOf(row.value),
  }));
  return { items, hasMore: rows.length > limit };
}

function keysOf({ dialect }: Handle, { value, holder, tokenId }: TokenHolderRow) {
  return [dialect.numeric(value), bytesColumn(holder), tokenId === null ? '' : uintColumn(tokenId)];
}

interface InstanceHolderQuery extends TokenHolderQuery {
  type: NftType;
  tokenId: bigint;
}

/** Balances of one token id, largest first, then by holder, both descending. An ERC-721 id has only its owner. */
export async function instanceHolders(
  handle: Handle,
  { token, type, tokenId, after, limit }: InstanceHolderQuery,
): Promise<Page<TokenHolderRow>> {
  if (type === 'ERC-721') {
    const owners = await select({ from: 'token_instances', columns: ['owner'] }).rows(
      handle,
      'where token = ? and token_id = ?',
      [bytesColumn(token), uintColumn(tokenId)],
    );
    const items = owners.map(({ owner }) => ({ holder: hexOf(owner), tokenId, value: 1n }));
    return { items: after === undefined ? items : [], hasMore: false };
  }
  const { sql, bindings, order } = handle.dialect.keyRange({
    columns: ['token', 'token_id'],
    values: [bytesColumn(token), uintColumn(tokenId)],
    keys: ['value', 'holder'],
    below: after === undefined ? undefined : [handle.dialect.numeric(after.value), bytesColumn(after.holder)],
    order: 'desc',
  });
  const rows = await select({ from: 'token_balances', columns: ['holder', 'value'] }).rows(
    handle,
    `where ${sql} and token_id <> '' order by ${order} limit ?`,
    [...bindings, limit + 1],
  );
  const items = rows
    .slice(0, limit)
    .map(({ holder, value }) => ({ holder: hexOf(holder), tokenId, value: uintOf(value) }));
  return { items, hasMore: rows.length > limit };
}
