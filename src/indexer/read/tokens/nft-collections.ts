import type { Address } from 'viem';
import { bytesColumn, hexOf, uintOf } from '#db/columns.ts';
import type { OrderedSql } from '#db/dialect.ts';
import type { Handle } from '#db/open.ts';
import { readRows, unionAll, unionByStatement } from '#db/select/select.ts';
import { comesAfter, NFT_TYPES, type NftType } from '#evm/token-id.ts';
import { select } from '../../schema/select.ts';
import type { Page } from '../page.ts';
import { type NftHoldingRow, SHARED_IDS, UNIQUE_IDS } from './holdings.ts';

/** Token of which an address holds ids. */
export interface NftCollectionRow {
  token: Address;
  type: NftType;
  /** Number of ids held; null above the counting limit. */
  amount: bigint | null;
  /** First ids held. */
  holdings: NftHoldingRow[];
}

interface NftCollectionQuery {
  holder: Address;
  /** Collections of one of these standards. */
  types: readonly NftType[];
  after?: Collection | undefined;
  limit: number;
}

type Collection = Pick<NftCollectionRow, 'token' | 'type'>;

/** Maximum number of ids counted per ERC-1155 token (Decision 192). */
const MAX_COUNTED = 1_000;
/** Maximum number of ids per collection, and per page (Decision 192). */
const MAX_IDS = 9;
const MAX_IDS_OF_PAGE = 250;

/** Tables with the holders of ids, and the condition for rows of ids. */
const HELD = {
  'ERC-721': {
    table: 'token_instances',
    owner: 'owner',
    only: '',
    ids: UNIQUE_IDS,
  },
  'ERC-1155': {
    table: 'token_balances',
    owner: 'holder',
    only: ` and token_id <> ''`,
    ids: SHARED_IDS,
  },
} as const;

/** Collections of an address by contract and standard. */
export async function nftCollections(
  handle: Handle,
  { holder, types, after, limit }: NftCollectionQuery,
): Promise<Page<NftCollectionRow>> {
  const ofType = async (type: NftType) => {
    const owner = bytesColumn(holder);
    const first = after !== undefined && comesAfter(type, after.type) ? '>=' : '>';
    const rows = await select({
      with: ownedIn(type, first),
      computed: { token: ['bytes', 'token'] },
    }).rows(handle, 'from owned where token is not null limit ?', [
      ...[owner, bytesColumn(after?.token ?? '0x'), owner],
      ...[owner, owner],
      limit + 1,
    ]);
    return rows.map(({ token }) => ({ token: hexOf(token), type }));
  };
  const wanted = NFT_TYPES.filter(type => types.includes(type));
  const found = (await Promise.all(wanted.map(ofType))).flat();
  found.sort((a, b) => (a.token < b.token ? -1 : a.token > b.token ? 1 : 0));
  const collections = found.slice(0, limit);
  const [amounts, ids] = await Promise.all([
    amountsOf(handle, holder, collections),
    firstIds(handle, holder, collections),
  ]);
  const holdings = Map.groupBy(ids, nameOf);
  return {
    items: collections.map(collection => ({
      ...collection,
      amount: amounts.get(nameOf(collection)) ?? null,
      holdings: holdings.get(nameOf(collection)) ?? [],
    })),
    hasMore: found.length > limit,
  };
}

/** Recursive query that jumps from one token to the next by an index lookup, so the number of ids does not matter. */
function ownedIn(type: NftType, first: '>' | '>='): string {
  const { table, owner, only } = HELD[type];
  return `with recursive owned (token) as (
      select * from (select token from ${table} where (${owner}, token) ${first} (?, ?) and ${owner} <= ?${only}
        order by ${owner}, token limit 1) as found
      union all
      select (select t.token from ${table} t
        where (t.${owner}, t.token) > (?, owned.token) and t.${owner} <= ?${only}
        order by t.${owner}, t.token limit 1) from owned where owned.token is not null
    )`;
}

function nameOf({ token, type }: Collection): string {
  return `${token}/${type}`;
}

/** Number of ids per collection. An ERC-721 token has it as its balance; ERC-1155 ids are counted. */
async function amountsOf(
  handle: Handle,
  holder: Address,
  collections: readonly Collection[],
): Promise<ReadonlyMap<string, bigint>> {
  const keysOf = (wanted: NftType) =>
    collections.filter(({ type }) => type === wanted).map(({ token }) => token);
  const [single, several] = [keysOf('ERC-721'), keysOf('ERC-1155')];
  const amounts = new Map<string, bigint>();
  if (single.length > 0) {
    const balances = await readRows(
      handle,
      unionAll(
        single.map(token =>
          BALANCE.query(handle, `where token = ? and holder = ? and token_id = ''`, [
            bytesColumn(token),
            bytesColumn(holder),
          ]),
        ),
      ),
    );
    for (const { token, value } of balances)
      amounts.set(nameOf({ token: hexOf(token), type: 'ERC-721' }), uintOf(value));
  }
  if (several.length > 0) {
    const counted = several.map(token => {
      const { sql, bindings, order } = idsOf(handle, { owner: 'holder', holder, token });
      return COUNT.query(
        handle,
        `from (select 1 from token_balances
          where ${sql} and token_id <> '' order by ${order} limit ?) as found`,
        [...bindings, MAX_COUNTED + 1],
      );
    });
    const counts = await readRows(handle, unionByStatement(counted));
    for (const { statement, row_count: count } of counts) {
      const token = several[statement];
      if (token !== undefined && count <= MAX_COUNTED)
        amounts.set(nameOf({ token, type: 'ERC-1155' }), BigInt(count));
    }
  }
  return amounts;
}

const BALANCE = select({ from: 'token_balances', columns: ['token', 'value'] });
const COUNT = select({ computed: { row_count: ['count', 'count(*)'] } });

/** First ids of each collection. */
async function firstIds(
  handle: Handle,
  holder: Address,
  collections: readonly Collection[],
): Promise<readonly NftHoldingRow[]> {
  if (collections.length === 0) return [];
  const most = Math.min(MAX_IDS, Math.floor(MAX_IDS_OF_PAGE / collections.length));
  const branches = collections.map(({ token, type }) => {
    const { owner, only, ids } = HELD[type];
    const { sql, bindings, order } = idsOf(handle, { owner, holder, token });
    return ids.query(handle, `where ${sql}${only} order by ${order} limit ?`, [...bindings, most]);
  });
  const rows = await readRows(handle, unionByStatement(branches));
  return rows.flatMap(({ statement, token_id: id, instance_value: value }) => {
    const collection = collections[statement];
    if (collection === undefined) return [];
    return [{ ...collection, tokenId: uintOf(id), value: value === null ? 1n : uintOf(value) }];
  });
}

/** Condition for the ids of a token that an address holds, in order. */
function idsOf(
  { dialect }: Handle,
  { owner, holder, token }: { owner: 'owner' | 'holder'; holder: Address; token: Address },
): OrderedSql {
  return dialect.keyRange({
    columns: [owner, 'token'],
    values: [bytesColumn(holder), bytesColumn(token)],
    keys: ['token_id'],
    order: 'asc',
  });
}
