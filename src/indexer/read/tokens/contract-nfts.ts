import type { Address } from 'viem';
import { bytesColumn, uintColumn, uintOf } from '#db/columns.ts';
import type { Dialect } from '#db/dialect.ts';
import type { Handle } from '#db/open.ts';
import { readRows, unionByStatement } from '#db/select/select.ts';
import type { InstanceKey, NftType } from '#evm/token-id.ts';
import { select } from '../../schema/select.ts';

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

type IdQuery = Omit<ContractNftQuery, 'type'>;

function uniqueIds(handle: Handle, { token, limit, offset }: IdQuery) {
  const { sql, bindings, order } = handle.dialect.keyRange({
    columns: ['token'],
    values: [bytesColumn(token)],
    keys: ['token_id'],
    order: 'asc',
  });
  return select({ from: 'token_instances', columns: ['token_id'] }).rows(
    handle,
    `where ${sql} order by ${order} limit ? offset ?`,
    [...bindings, limit, offset],
  );
}

function sharedIds(handle: Handle, { token, limit, offset }: IdQuery) {
  const address = bytesColumn(token);
  return select({
    with: heldIds(handle.dialect),
    computed: { token_id: ['uint256', 'token_id'] },
  }).rows(handle, 'from held_ids where token_id is not null limit ? offset ?', [
    ...[address, address],
    ...[limit, offset],
  ]);
}

/** Recursive query that jumps from one id to the next by an index lookup, so the number of holders does not matter. */
const heldIds = ({ indexedBy }: Dialect) => `with recursive held_ids (token_id) as (
    select * from (select token_id from token_balances${indexedBy('token_balances_by_instance')}
      where token = ? and token_id <> '' order by token, token_id limit 1) as found
    union all
    select (select b.token_id from token_balances b${indexedBy('token_balances_by_instance')}
      where b.token = ? and b.token_id <> '' and b.token_id > held_ids.token_id
      order by b.token, b.token_id limit 1) from held_ids where held_ids.token_id is not null
  )`;

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
    const held = part.map(({ token, tokenId }) =>
      VALUES.query(handle, `where token = ? and token_id = ? and token_id <> '' limit ?`, [
        bytesColumn(token),
        uintColumn(tokenId),
        most + 1,
      ]),
    );
    const rows = await readRows(handle, unionByStatement(held));
    const found = Map.groupBy(rows, ({ statement }) => statement);
    supplies.push(
      ...part.map((_, index) => {
        const holders = found.get(index) ?? [];
        if (holders.length > most) return null;
        return holders.reduce((sum, { value }) => sum + uintOf(value), 0n);
      }),
    );
  }
  return supplies;
}

/** Without the named index, SQLite would scan all balances of the token. */
const VALUES = select({
  from: 'token_balances',
  indexedBy: { token_balances: 'token_balances_by_instance' },
  columns: ['value'],
});
