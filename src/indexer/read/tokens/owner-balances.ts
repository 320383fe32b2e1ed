import type { Address } from 'viem';
import { bytesColumn, hexOf, uintOf } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import { rowsOf } from '#db/query.ts';
import type { IndexTables } from '../../schema/tables.ts';

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

type BalanceColumns = Pick<IndexTables['token_balances'], 'token' | 'token_id' | 'value'>;

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
  const rows = await rowsOf<BalanceColumns>(
    handle,
    `select token, token_id, value from token_balances where ${sql} order by ${order} limit ? offset ?`,
    [...bindings, limit, offset],
  );
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
    return {
      sql: `select * from (select token, token_id, value from token_balances where ${sql} order by ${order} limit ?) as found`,
      bindings: [...bindings, limit],
    };
  });
  const rows = await rowsOf<BalanceColumns>(
    handle,
    `${branches.map(({ sql }) => sql).join(' union all ')} limit ?`,
    [...branches.flatMap(({ bindings }) => bindings), limit],
  );
  return rows.map(balanceOf);
}

function balanceOf(row: BalanceColumns): OwnerBalanceRow {
  return {
    token: hexOf(row.token),
    tokenId: row.token_id === '' ? null : uintOf(row.token_id),
    value: uintOf(row.value),
  };
}
