import type { Address } from 'viem';
import { bytesColumn, uintOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { rowsOf } from '../../db/query.ts';
import type { IndexTables } from '../schema/columns.ts';
import type { ComputedIndexColumns } from '../schema/computed-columns.ts';

/** Coin balance in wei; 0 for an address that never had coins or code. */
export async function coinBalance(handle: Handle, address: Address): Promise<bigint> {
  const [row] = await rowsOf<Pick<IndexTables['addresses'], 'balance'>>(
    handle,
    'select balance from addresses where address = ?',
    [bytesColumn(address)],
  );
  return row === undefined ? 0n : uintOf(row.balance);
}

/** Columns in which an address has a list of its own, each with what follows it in its index. */
const LISTS = [
  ['logs', 'address', 'id'],
  ['holdings', 'holder', 'type'],
  ['token_transfers', 'from_address', 'token_type'],
  ['token_transfers', 'to_address', 'token_type'],
  ['blocks', 'miner', 'number'],
  ['withdrawals', 'address', 'id'],
] as const;

type ListTable = (typeof LISTS)[number][0];

/** Tables that have a row of the address. */
export async function tablesWith(handle: Handle, address: Address): Promise<ReadonlySet<ListTable>> {
  const looks = LISTS.map(([table, column, key]) => {
    const { sql, bindings, order } = ofAddress(handle, { address, column, keys: [key] });
    return {
      sql: `select '${table}' as found_in from (select 1 from ${table} where ${sql} order by ${order} limit 1) as found`,
      bindings,
    };
  });
  const rows = await rowsOf<Pick<ComputedIndexColumns, 'found_in'>>(
    handle,
    looks.map(({ sql }) => sql).join(' union all '),
    looks.flatMap(({ bindings }) => bindings),
  );
  const names = new Set(rows.map(({ found_in: name }) => name));
  return new Set(LISTS.flatMap(([table]) => (names.has(table) ? [table] : [])));
}

/** Numbers of what an address did; null beyond the most that are counted. */
export interface AddressCounts {
  transactions: number;
  tokenTransfers: number | null;
  validatedBlocks: number | null;
}

/** Columns whose rows are counted when they are asked for, and what follows each in its index. */
const COUNTED = [
  { name: 'sent', table: 'token_transfers', column: 'from_address', keys: ['token_type', 'id'] },
  { name: 'received', table: 'token_transfers', column: 'to_address', keys: ['token_type', 'id'] },
  { name: 'validated', table: 'blocks', column: 'miner', keys: ['number'] },
] as const;

/** Counts rows up to `most` on each side; the number of transactions is kept by the writer. */
export async function addressCounts(
  handle: Handle,
  { address, most }: { address: Address; most: number },
): Promise<AddressCounts> {
  const counters = COUNTED.map(({ name, table, column, keys }) => {
    const { sql, bindings, order } = ofAddress(handle, { address, column, keys });
    return {
      sql: `select '${name}' as counter, count(*) as row_count
        from (select 1 from ${table} where ${sql} order by ${order} limit ?) as found`,
      bindings: [...bindings, most + 1],
    };
  });
  const counts = await rowsOf<Pick<ComputedIndexColumns, 'counter' | 'row_count'>>(
    handle,
    counters.map(({ sql }) => sql).join(' union all '),
    counters.flatMap(({ bindings }) => bindings),
  );
  const [kept] = await rowsOf<IndexTables['transaction_counts']>(
    handle,
    'select address, transactions from transaction_counts where address = ?',
    [bytesColumn(address)],
  );
  const byName = new Map(counts.map(row => [row.counter, row.row_count]));
  const countOf = (name: (typeof COUNTED)[number]['name']) => {
    const count = byName.get(name) ?? 0;
    return count > most ? null : count;
  };
  const [sent, received] = [countOf('sent'), countOf('received')];
  return {
    transactions: kept?.transactions ?? 0,
    tokenTransfers: sent === null || received === null ? null : sent + received,
    validatedBlocks: countOf('validated'),
  };
}

/** Gas of the transactions to or from an address; null when there are more than `most`. */
export async function gasOf(
  handle: Handle,
  { address, side, most }: { address: Address; side: 'from' | 'to'; most: number },
): Promise<bigint | null> {
  const { sql, bindings, order } = ofAddress(handle, { address, column: `${side}_address`, keys: ['id'] });
  const [row] = await rowsOf<Pick<ComputedIndexColumns, 'row_count' | 'gas_total'>>(
    handle,
    `select count(*) as row_count, cast(coalesce(sum(gas_used), 0) as text) as gas_total
     from (select gas_used from transactions where ${sql} order by ${order} limit ?) as found`,
    [...bindings, most + 1],
  );
  return row === undefined || row.row_count > most ? null : BigInt(row.gas_total);
}

/** Rows with the address in a column, in the order of its index. */
function ofAddress(
  { dialect }: Handle,
  { address, column, keys }: { address: Address; column: string; keys: readonly string[] },
) {
  return dialect.keyRange({ columns: [column], values: [bytesColumn(address)], keys, order: 'desc' });
}
