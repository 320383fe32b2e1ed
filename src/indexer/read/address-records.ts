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

/** Numbers of what an address did, kept by the writer. */
export interface AddressCounts {
  transactions: number;
  /** Gas of the transactions from the address, and to it. */
  gasSent: number;
  gasReceived: number;
  /** Those from or to the address. */
  tokenTransfers: number;
  /** Those of the token at the address. */
  transfersOfToken: number;
  validatedBlocks: number;
}

export async function addressCounts(handle: Handle, address: Address): Promise<AddressCounts> {
  const bindings = [bytesColumn(address)];
  const [[ofTransactions], [others]] = await Promise.all([
    rowsOf<Omit<IndexTables['transaction_counts'], 'address'>>(
      handle,
      'select transactions, gas_sent, gas_received from transaction_counts where address = ?',
      bindings,
    ),
    rowsOf<Omit<IndexTables['address_counts'], 'address'>>(
      handle,
      'select token_transfers, transfers_of_token, validated_blocks from address_counts where address = ?',
      bindings,
    ),
  ]);
  return {
    transactions: ofTransactions?.transactions ?? 0,
    gasSent: ofTransactions?.gas_sent ?? 0,
    gasReceived: ofTransactions?.gas_received ?? 0,
    tokenTransfers: others?.token_transfers ?? 0,
    transfersOfToken: others?.transfers_of_token ?? 0,
    validatedBlocks: others?.validated_blocks ?? 0,
  };
}

/** Rows with the address in a column, in the order of its index. */
function ofAddress(
  { dialect }: Handle,
  { address, column, keys }: { address: Address; column: string; keys: readonly string[] },
) {
  return dialect.keyRange({ columns: [column], values: [bytesColumn(address)], keys, order: 'desc' });
}
