import type { Address } from 'viem';
import { bytesColumn, hexOf, uintOf } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import { enclosed, type RowIn, readRows, unionAll } from '#db/select/select.ts';
import { select } from '../../schema/select.ts';

/** Balance of an owner. */
export interface OwnerBalanceRow {
  token: Address;
  /** Set only for the balance of one id (ERC-1155). */
  tokenId: bigint | null;
  /** Amount in the smallest unit; for ERC-721 the number of ids held. Never zero. */
  value: bigint;
}

interface OwnerBalanceQuery {
  holder: Address;
  order: 'asc' | 'desc';
  limit: number;
  /** Number of balances to skip, from the first. */
  offset: number;
}

interface BalancesOfTokensQuery {
  holder: Address;
  /** At most 50. */
  tokens: readonly Address[];
  /** Maximum number of balances of all these tokens together. */
  limit: number;
}

const BALANCE = select({ from: 'token_balances', columns: ['token', 'token_id', 'value'] });

/** Balances of an owner by token and id. */
export async function ownerBalances(
  handle: Handle,
  { holder, order: direction, limit, offset }: OwnerBalanceQuery,
): Promise<OwnerBalanceRow[]> {
  const { sql, bindings, order } = handle.dialect.keyRange({
    columns: ['holder'],
    values: [bytesColumn(holder)],
    keys: ['token', 'token_id'],
    order: direction,
  });
  const rows = await BALANCE.rows(handle, `where ${sql} order by ${order} limit ? offset ?`, [
    ...bindings,
    limit,
    offset,
  ]);
  return rows.map(balanceOf);
}

/** Balances of an owner for some tokens, in no particular order. */
export async function balancesOfTokens(
  handle: Handle,
  { holder, tokens, limit }: BalancesOfTokensQuery,
): Promise<OwnerBalanceRow[]> {
  if (tokens.length === 0) return [];
  const branches = tokens.map(token => {
    const { sql, bindings, order } = handle.dialect.keyRange({
      columns: ['token', 'holder'],
      values: [bytesColumn(token), bytesColumn(holder)],
      keys: ['token_id'],
      order: 'asc',
    });
    return enclosed(BALANCE.query(handle, `where ${sql} order by ${order} limit ?`, [...bindings, limit]));
  });
  const rows = await readRows(handle, unionAll(branches, limit));
  return rows.map(balanceOf);
}

function balanceOf(row: RowIn<typeof BALANCE>): OwnerBalanceRow {
  return {
    token: hexOf(row.token),
    tokenId: row.token_id === '' ? null : uintOf(row.token_id),
    value: uintOf(row.value),
  };
}
