import type { Address } from 'viem';
import { bytesColumn, hexOf, uintColumn, uintOf } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import { placeholders } from '#db/rows.ts';
import type { InstanceKey, NftType } from '#evm/token-id.ts';
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

/** One id of a token that an address holds. */
export interface NftHoldingRow {
  token: Address;
  tokenId: bigint;
  type: NftType;
  /** How many of this id, at least 1. */
  value: bigint;
}

interface NftHoldingQuery {
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

/** Who has an id that somebody has. */
export interface InstanceRow extends InstanceKey {
  /** Whether there is exactly one of it. */
  isUnique: boolean;
  /** Null when several addresses have some. */
  onlyHolder: Address | null;
}

/** Each of the wanted instances in their order, null where nobody has one (any more). At most 250. */
export async function tokenInstances(
  handle: Handle,
  wanted: readonly InstanceKey[],
): Promise<(InstanceRow | null)[]> {
  if (wanted.length === 0) return [];
  const holders = await handle.raw<{ wanted: number; holder: Buffer; value: string }[]>(
    wanted
      .map(({ type }, place) => `select ${place} as wanted, * from (${HOLDERS[type]})`)
      .join(' union all '),
    wanted.flatMap(({ token, tokenId }) => [bytesColumn(token), uintColumn(tokenId)]),
  );
  const found = Map.groupBy(holders, row => row.wanted);
  return wanted.map((key, place) => {
    const [first, ...others] = found.get(place) ?? [];
    if (first === undefined) return null;
    const isAlone = others.length === 0;
    return {
      ...key,
      isUnique: isAlone && (first.value === '' || uintOf(first.value) === 1n),
      onlyHolder: isAlone ? hexOf(first.holder) : null,
    };
  });
}

/** Two holders tell as much as all of them. SQLite by itself would rather walk all balances of the token. */
const HOLDERS = {
  'ERC-721': `select owner as holder, '' as value from token_instances where token = ? and token_id = ?`,
  'ERC-1155': `select holder, value from token_balances indexed by token_balances_by_instance
    where token = ? and token_id = ? and token_id <> '' limit 2`,
} as const;

/** Well below SQLite's limit of terms in a compound select. */
const KEYS_PER_STATEMENT = 100;

/** Who has each of the instances, in their order, at most `limit` addresses each by address. */
export async function instanceOwners(
  handle: Handle,
  wanted: readonly InstanceKey[],
  limit: number,
): Promise<Address[][]> {
  const owners: Address[][] = [];
  for (let first = 0; first < wanted.length; first += KEYS_PER_STATEMENT) {
    const part = wanted.slice(first, first + KEYS_PER_STATEMENT);
    const rows = await handle.raw<{ place: number; owner: Buffer }[]>(
      part
        .map(({ type }, place) => `select ${place} as place, owner from (${OWNERS[type]})`)
        .join(' union all '),
      part.flatMap(({ token, tokenId }) => [bytesColumn(token), uintColumn(tokenId), limit]),
    );
    const found = Map.groupBy(rows, ({ place }) => place);
    owners.push(...part.map((_, place) => (found.get(place) ?? []).map(({ owner }) => hexOf(owner))));
  }
  return owners;
}

/** SQLite by itself would rather walk all balances of the token. */
const OWNERS = {
  'ERC-721': 'select owner from token_instances where token = ? and token_id = ? limit ?',
  'ERC-1155': `select holder as owner from token_balances indexed by token_balances_by_instance
    where token = ? and token_id = ? and token_id <> '' order by holder limit ?`,
} as const;
