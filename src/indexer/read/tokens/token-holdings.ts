import type { Address } from 'viem';
import { bytesColumn, hexOf, uintOf } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import { placeholders } from '#db/rows.ts';
import { TOKEN_TYPES, type TokenType, tokenTypeColumn, tokenTypeOf } from '../../schema/transaction-types.ts';
import { inOrder, type Page } from '../page.ts';

/** A balance of an address. */
export interface TokenHoldingRow {
  /** The index's own number of it, which grows: the page cursor. */
  id: number;
  token: Address;
  /** Of the token as a whole. */
  type: TokenType;
  /** Only where the balance is of one id (ERC-1155). */
  tokenId: bigint | null;
  /** In the smallest unit; of ERC-721 the number of ids held. Never zero. */
  value: bigint;
}

export interface TokenHoldingQuery {
  holder: Address;
  /** Any of these. */
  types?: readonly TokenType[];
  /** Only what has a lower number. */
  beforeId?: number;
  limit: number;
}

/** Token balances of an address, the latest gained first. */
export async function tokenHoldings(
  handle: Handle,
  { holder, types = TOKEN_TYPES, beforeId = Number.MAX_SAFE_INTEGER, limit }: TokenHoldingQuery,
): Promise<Page<TokenHoldingRow>> {
  const wanted = [...new Set(types)];
  const branch = `select id from (
    select id from holdings where holder = ? and type = ? and id < ? order by id desc limit ?)`;
  const found = await handle.raw<{ id: number }[]>(
    wanted.map(() => branch).join(' union all '),
    wanted.flatMap(type => [bytesColumn(holder), tokenTypeColumn(type), beforeId, limit + 1]),
  );
  const ids = found.map(({ id }) => id).sort((a, b) => b - a);
  const keys = ids.slice(0, limit);
  const rows = await handle.raw<HoldingColumns[]>(
    `select h.id, h.type, h.token, h.token_id, b.value from holdings h cross join token_balances b
       on b.token = h.token and b.holder = h.holder and b.token_id = h.token_id
     where h.id in (${placeholders(keys.length)})`,
    keys,
  );
  return { items: inOrder(keys, rows).map(holdingOf), hasMore: ids.length > limit };
}

interface HoldingColumns {
  id: number;
  type: number;
  token: Buffer;
  token_id: string;
  value: string;
}

function holdingOf(row: HoldingColumns): TokenHoldingRow {
  return {
    id: row.id,
    token: hexOf(row.token),
    type: tokenTypeOf(row.type),
    tokenId: row.token_id === '' ? null : uintOf(row.token_id),
    value: uintOf(row.value),
  };
}
