import type { Address } from 'viem';
import { bytesColumn, uintOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { readRows, unionAll } from '../../db/select/select.ts';
import { select } from '../schema/select.ts';

/** Coin balance in wei; 0 for an address that is not in the index. */
export async function coinBalanceOf(handle: Handle, address: Address): Promise<bigint> {
  const [row] = await select({ from: 'addresses', columns: ['balance'] }).rows(handle, 'where address = ?', [
    bytesColumn(address),
  ]);
  return row === undefined ? 0n : uintOf(row.balance);
}

/** Columns with a list of their own for an address, and the column that follows in the index. */
const LISTS = [
  ['logs', 'address', 'id'],
  ['holdings', 'holder', 'type'],
  ['withdrawals', 'address', 'id'],
] as const;
/** Counters that tell whether a list is empty. */
const COUNTED_LISTS = ['token_transfers', 'validated_blocks'] as const;

/** List of an address, named by its table or counter. */
type AddressList = (typeof LISTS)[number][0] | (typeof COUNTED_LISTS)[number];

/** Names of an address's lists that are not empty. */
export async function filledLists(handle: Handle, address: Address): Promise<ReadonlySet<AddressList>> {
  const looks = LISTS.map(([table, column, key]) => {
    const { sql, bindings, order } = ofAddress(handle, { address, column, keys: [key] });
    return foundIn(table).query(
      handle,
      `from (select 1 from ${table} where ${sql} order by ${order} limit 1) as found`,
      bindings,
    );
  });
  const counts = COUNTED_LISTS.map(counter =>
    foundIn(counter).query(handle, `from address_counts where address = ? and ${counter} > 0`, [
      bytesColumn(address),
    ]),
  );
  const rows = await readRows(handle, unionAll([...looks, ...counts]));
  const names = new Set(rows.map(({ found_in: name }) => name));
  const lists: AddressList[] = [...LISTS.map(([table]) => table), ...COUNTED_LISTS];
  return new Set(lists.filter(list => names.has(list)));
}

/** Row with the name of a list. */
const foundIn = (list: AddressList) => select({ computed: { found_in: ['text', `'${list}'`] } });

/** Activity counters of an address, maintained by the writer. */
export interface AddressCounts {
  transactions: number;
  /** Gas of transactions from the address and to it. */
  gasSent: number;
  gasReceived: number;
  /** Transfers from or to the address. */
  tokenTransfers: number;
  /** Transfers of the token at the address. */
  transfersOfToken: number;
  validatedBlocks: number;
}

export async function addressCounts(handle: Handle, address: Address): Promise<AddressCounts> {
  const bindings = [bytesColumn(address)];
  const [[ofTransactions], [others]] = await Promise.all([
    select({ from: 'transaction_counts', columns: ['transactions', 'gas_sent', 'gas_received'] }).rows(
      handle,
      'where address = ?',
      bindings,
    ),
    select({
      from: 'address_counts',
      columns: ['token_transfers', 'transfers_of_token', 'validated_blocks'],
    }).rows(handle, 'where address = ?', bindings),
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

/** Condition for rows with the address in a column, in index order. */
function ofAddress(
  { dialect }: Handle,
  { address, column, keys }: { address: Address; column: string; keys: readonly string[] },
) {
  return dialect.keyRange({ columns: [column], values: [bytesColumn(address)], keys, order: 'desc' });
}
