import type { Address } from 'viem';
import { bytesColumn, hexOf, uintColumn, uintOf } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import type { InstanceKey, NftType } from '#evm/token-id.ts';
import type { Page } from '../page.ts';

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
