import type { Address } from 'viem';
import { bytesColumn, uintColumn, uintOf } from '#db/columns.ts';
import type { Dialect } from '#db/dialect.ts';
import type { Handle } from '#db/open.ts';
import { rowsOf } from '#db/query.ts';
import type { InstanceKey, NftType } from '#evm/token-id.ts';
import type { ComputedIndexColumns } from '../../schema/computed-columns.ts';
import type { IndexTables } from '../../schema/tables.ts';

interface ContractNftQuery {
  token: Address;
  type: NftType;
  limit: number;
  /** Number of ids to skip, from the lowest. */
  offset: number;
}

/** Ids of a contract that have a holder, lowest first. */
export async function contractNfts(
  handle: Handle,
  { token, type, limit, offset }: ContractNftQuery,
): Promise<InstanceKey[]> {
  const ids = type === 'ERC-721' ? uniqueIds : sharedIds;
  const rows = await ids(handle, { token, limit, offset });
  return rows.map(({ token_id: id }) => ({ token, tokenId: uintOf(id), type }));
}

type IdColumns = Pick<IndexTables['token_instances'], 'token_id'>;
type IdQuery = Omit<ContractNftQuery, 'type'>;

async function uniqueIds(handle: Handle, { token, limit, offset }: IdQuery): Promise<IdColumns[]> {
  const { sql, bindings, order } = handle.dialect.keyRange({
    columns: ['token'],
    values: [bytesColumn(token)],
    keys: ['token_id'],
    order: 'asc',
  });
  return rowsOf<IdColumns>(
    handle,
    `select token_id from token_instances where ${sql} order by ${order} limit ? offset ?`,
    [...bindings, limit, offset],
  );
}

async function sharedIds(handle: Handle, { token, limit, offset }: IdQuery): Promise<IdColumns[]> {
  const address = bytesColumn(token);
  return rowsOf<IdColumns>(handle, held(handle.dialect), [address, address, limit, offset]);
}

/** Recursive query that jumps from one id to the next by an index lookup, so the number of holders does not matter. */
const held = ({ indexedBy }: Dialect) => `with recursive held_ids (token_id) as (
    select * from (select token_id from token_balances${indexedBy('token_balances_by_instance')}
      where token = ? and token_id <> '' order by token, token_id limit 1) as found
    union all
    select (select b.token_id from token_balances b${indexedBy('token_balances_by_instance')}
      where b.token = ? and b.token_id <> '' and b.token_id > held_ids.token_id
      order by b.token, b.token_id limit 1) from held_ids where held_ids.token_id is not null
  )
  select token_id from held_ids where token_id is not null limit ? offset ?`;

/** Well below SQLite's limit of terms in a compound select. */
const KEYS_PER_STATEMENT = 100;

/** Total supply of each ERC-1155 id, in the order of the request. Null when more than `most` addresses hold it. */
export async function instanceSupplies(
  handle: Handle,
  wanted: readonly Pick<InstanceKey, 'token' | 'tokenId'>[],
  most: number,
): Promise<(bigint | null)[]> {
  const supplies: (bigint | null)[] = [];
  for (let first = 0; first < wanted.length; first += KEYS_PER_STATEMENT) {
    const part = wanted.slice(first, first + KEYS_PER_STATEMENT);
    const rows = await rowsOf<Pick<ComputedIndexColumns, 'place' | 'instance_value'>>(
      handle,
      part
        .map((_, place) => `select ${place} as place, found.* from (${values(handle.dialect)}) as found`)
        .join(' union all '),
      part.flatMap(({ token, tokenId }) => [bytesColumn(token), uintColumn(tokenId), most + 1]),
    );
    const found = Map.groupBy(rows, ({ place }) => place);
    supplies.push(
      ...part.map((_, place) => {
        const held = found.get(place) ?? [];
        if (held.length > most) return null;
        return held.reduce(
          (sum, { instance_value: value }) => sum + (value === null ? 0n : uintOf(value)),
          0n,
        );
      }),
    );
  }
  return supplies;
}

/** Without the named index, SQLite would scan all balances of the token. */
const values = ({ indexedBy }: Dialect) =>
  `select value as instance_value from token_balances${indexedBy('token_balances_by_instance')}
    where token = ? and token_id = ? and token_id <> '' limit ?`;
