import type { Address } from 'viem';
import { bytesColumn, hexOf, uintColumn, uintOf } from '#db/columns.ts';
import type { KeyRange } from '#db/dialect.ts';
import type { Handle } from '#db/open.ts';
import { type RowIn, readRows, unionByStatement } from '#db/select/select.ts';
import { comesAfter, type InstanceKey, NFT_TYPES, type NftType } from '#evm/token-id.ts';
import { select } from '../../schema/select.ts';
import { TOKEN_TYPES, type TokenType, tokenTypeColumn, tokenTypeOf } from '../../schema/transaction-types.ts';
import { firstKeys, firstOfRanges, type Page } from '../page.ts';

/** Balance of an address. */
export interface TokenHoldingRow {
  /** Increasing number assigned by the index, used as the page cursor. */
  id: number;
  token: Address;
  /** Type of the whole token. */
  type: TokenType;
  /** Set only for the balance of one id (ERC-1155). */
  tokenId: bigint | null;
  /** Amount in the smallest unit; for ERC-721 the number of ids held. Never zero. */
  value: bigint;
}

export interface TokenHoldingQuery {
  holder: Address;
  /** Balances of one of these types. */
  types?: readonly TokenType[] | undefined;
  /** Only rows with a lower `id`. */
  beforeId?: number | undefined;
  limit: number;
}

/** Token balances of an address, most recently acquired first. */
export async function tokenHoldings(
  handle: Handle,
  { holder, types = TOKEN_TYPES, beforeId = Number.MAX_SAFE_INTEGER, limit }: TokenHoldingQuery,
): Promise<Page<TokenHoldingRow>> {
  const wanted = [...new Set(types)];
  const range = { order: 'desc', limit: limit + 1 } as const;
  const branches = wanted.map(type =>
    firstKeys(handle, 'holdings', {
      columns: ['holder', 'type'],
      values: [bytesColumn(holder), tokenTypeColumn(type)],
      below: [beforeId],
      ...range,
    }),
  );
  const keys = firstOfRanges(branches, range);
  const rows = await HOLDING.rows(handle, `where h.id ${handle.dialect.among(keys.sql)}`, keys.bindings);
  const sorted = rows.sort((one, other) => other.id - one.id);
  return { items: sorted.slice(0, limit).map(holdingOf), hasMore: sorted.length > limit };
}

const HOLDING = select({
  from: 'holdings h',
  join: ['token_balances b on b.token = h.token and b.holder = h.holder and b.token_id = h.token_id'],
  columns: ['h.id', 'h.type', 'h.token', 'h.token_id', 'b.value'],
});

function holdingOf(row: RowIn<typeof HOLDING>): TokenHoldingRow {
  return {
    id: row.id,
    token: hexOf(row.token),
    type: tokenTypeOf(row.type),
    tokenId: row.token_id === '' ? null : uintOf(row.token_id),
    value: uintOf(row.value),
  };
}

/** One token id that an address holds. */
export interface NftHoldingRow {
  token: Address;
  tokenId: bigint;
  type: NftType;
  /** Number held of this id, at least 1. */
  value: bigint;
}

interface NftHoldingQuery {
  holder: Address;
  /** NFTs of one of these standards. */
  types: readonly NftType[];
  after?: InstanceKey | undefined;
  /** Only ids of this contract. Cannot be combined with `after`. */
  token?: Address | undefined;
  limit: number;
}

/** Ids with a holder, and the amount held; null for an id that has only one. */
export const UNIQUE_IDS = select({
  from: 'token_instances',
  columns: ['token', 'token_id'],
  computed: { instance_value: ['numeric?', 'cast(null as numeric)'] },
});
export const SHARED_IDS = select({
  from: 'token_balances',
  columns: ['token', 'token_id'],
  computed: { instance_value: ['numeric?', 'value'] },
});

/** Ownership per standard: in the instance's row for ERC-721, in the balance's row for ERC-1155. */
const OWNED = {
  'ERC-721': { owner: 'owner', ids: UNIQUE_IDS, only: '' },
  'ERC-1155': { owner: 'holder', ids: SHARED_IDS, only: ` and token_id <> ''` },
} as const;

/** NFTs of an address by contract, id and standard. Transfers of other NFTs do not move an item to another page. */
export async function nftHoldings(
  handle: Handle,
  { types, limit, ...query }: NftHoldingQuery,
): Promise<Page<NftHoldingRow>> {
  const ofType = async (type: NftType) => {
    const { ids, only } = OWNED[type];
    const { sql, bindings, order } = handle.dialect.keyRange(nftRange(type, query));
    const rows = await ids.rows(handle, `where ${sql}${only} order by ${order} limit ?`, [
      ...bindings,
      limit + 1,
    ]);
    return rows.map(({ token, token_id: tokenId, instance_value: value }) => {
      const row = { token: hexOf(token), tokenId: uintOf(tokenId), type };
      return { key: `${row.token}${tokenId}`, row: { ...row, value: value === null ? 1n : uintOf(value) } };
    });
  };
  const wanted = NFT_TYPES.filter(type => types.includes(type));
  const found = (await Promise.all(wanted.map(ofType))).flat();
  found.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return { items: found.slice(0, limit).map(({ row }) => row), hasMore: found.length > limit };
}

function nftRange(
  type: NftType,
  { holder, after, token }: Omit<NftHoldingQuery, 'types' | 'limit'>,
): KeyRange {
  const { owner } = OWNED[type];
  if (token !== undefined) {
    // Columns in the order of each table's index.
    const ids = { keys: ['token_id'], order: 'asc' } as const;
    const [account, contract] = [bytesColumn(holder), bytesColumn(token)];
    return owner === 'owner'
      ? { columns: ['owner', 'token'], values: [account, contract], ...ids }
      : { columns: ['token', 'holder'], values: [contract, account], ...ids };
  }
  return {
    columns: [owner],
    values: [bytesColumn(holder)],
    keys: ['token', 'token_id'],
    above: after && [bytesColumn(after.token), idBefore(type, after)],
    order: 'asc',
  };
}

/** Column value of the last id to skip. The same id of a later standard is not skipped. */
function idBefore(type: NftType, after: InstanceKey): string {
  if (!comesAfter(type, after.type)) return uintColumn(after.tokenId);
  return after.tokenId === 0n ? '' : uintColumn(after.tokenId - 1n);
}

/** Ownership of an id that has a holder. */
export interface InstanceRow extends InstanceKey {
  /** True when exactly one of it exists. */
  isUnique: boolean;
  /** Null when there are several holders. */
  onlyHolder: Address | null;
}

/** Requested instances in order; null for those without a holder. At most 250. */
export async function tokenInstances(
  handle: Handle,
  wanted: readonly InstanceKey[],
): Promise<(InstanceRow | null)[]> {
  if (wanted.length === 0) return [];
  const holders = await readRows(
    handle,
    unionByStatement(
      wanted.map(({ token, tokenId, type }) => {
        const { holders, where } = HOLDERS[type];
        // Two holders are enough.
        return holders.query(handle, `${where} limit 2`, [bytesColumn(token), uintColumn(tokenId)]);
      }),
    ),
  );
  const found = Map.groupBy(holders, ({ statement }) => statement);
  return wanted.map((key, index) => {
    const [first, ...others] = found.get(index) ?? [];
    if (first === undefined) return null;
    const isAlone = others.length === 0;
    return {
      ...key,
      isUnique: isAlone && (first.instance_value === null || uintOf(first.instance_value) === 1n),
      onlyHolder: isAlone ? hexOf(first.instance_holder) : null,
    };
  });
}

/** Holders of an id. Without the named index, SQLite would scan all balances of the token. */
const HOLDERS = {
  'ERC-721': {
    holders: select({
      from: 'token_instances',
      columns: ['owner as instance_holder'],
      computed: { instance_value: ['numeric?', 'cast(null as numeric)'] },
    }),
    where: 'where token = ? and token_id = ?',
    order: '',
  },
  'ERC-1155': {
    holders: select({
      from: 'token_balances',
      indexedBy: { token_balances: 'token_balances_by_instance' },
      columns: ['holder as instance_holder'],
      computed: { instance_value: ['numeric?', 'value'] },
    }),
    where: `where token = ? and token_id = ? and token_id <> ''`,
    order: 'order by holder',
  },
} as const;

/** Well below SQLite's limit of terms in a compound select. */
const KEYS_PER_STATEMENT = 100;

/** Holders of each instance in the order of the request, at most `limit` per instance, sorted by address. */
export async function instanceOwners(
  handle: Handle,
  wanted: readonly InstanceKey[],
  limit: number,
): Promise<Address[][]> {
  const owners: Address[][] = [];
  for (let first = 0; first < wanted.length; first += KEYS_PER_STATEMENT) {
    const part = wanted.slice(first, first + KEYS_PER_STATEMENT);
    const rows = await readRows(
      handle,
      unionByStatement(
        part.map(({ token, tokenId, type }) => {
          const { holders, where, order } = HOLDERS[type];
          const key = [bytesColumn(token), uintColumn(tokenId)];
          return holders.query(handle, `${where} ${order} limit ?`, [...key, limit]);
        }),
      ),
    );
    const found = Map.groupBy(rows, ({ statement }) => statement);
    owners.push(...part.map((_, index) => (found.get(index) ?? []).map(row => hexOf(row.instance_holder))));
  }
  return owners;
}
