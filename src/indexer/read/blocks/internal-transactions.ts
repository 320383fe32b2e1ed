import type { Address, Hash } from 'viem';
import { hexOf, nullableHex, uintOf } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import type { RowIn } from '#db/select/select.ts';
import { type BlockPosition, blockStart, positionKey, positionOf } from '../../schema/block-position.ts';
import { select } from '../../schema/select.ts';
import { COIN_LOG } from '../../schema/transaction-types.ts';
import { type Direction, sidesOf } from '../address-sides.ts';
import { EVERYTHING, type KeyQuery, type Page, pageOf } from '../page.ts';
import { transactionKey } from './transactions.ts';

/** A call, creation or self-destruction inside a transaction. Amounts are wei, times UTC milliseconds. */
export interface InternalTransactionRow {
  blockNumber: number;
  /** Position of the transaction in its block. */
  transactionIndex: number;
  /** Position in the transaction's trace, depth first, from 1. 0 would be the transaction's own call. */
  traceIndex: number;
  transactionHash: Hash;
  timestamp: number;
  /**
   * call, callcode, delegatecall, staticcall, create, create2 or selfdestruct. Null, like the gas, for coins that moved
   * according to a log of the chain, where the node gave no trace.
   */
  type: string | null;
  from: Address;
  /** Null for a creation. For a self-destruction, the receiver of the coins. */
  to: Address | null;
  createdContract: Address | null;
  value: bigint;
  gasLimit: bigint | null;
  gasUsed: bigint | null;
  /** Error text of the node; null on success. */
  error: string | null;
}

/** Position of an internal transaction, in the form of document 1's cursors. */
export interface TracePosition {
  blockNumber: number;
  transactionIndex: number;
  traceIndex: number;
}

/** Internal transactions of the whole chain, newest first. */
export async function internalTransactions(
  handle: Handle,
  { limit, before }: { limit: number; before?: TracePosition | undefined },
): Promise<Page<InternalTransactionRow>> {
  return tracePage(handle, {
    branches: [EVERYTHING],
    limit,
    before: before === undefined ? undefined : await firstPosition(handle, before),
  });
}

/** Internal transactions of one transaction, in trace order. Empty when the transaction is unknown. */
export async function internalTransactionsOf(
  handle: Handle,
  {
    transactionHash,
    limit,
    afterIndex,
  }: { transactionHash: Hash; limit: number; afterIndex?: number | undefined },
): Promise<Page<InternalTransactionRow>> {
  const transaction = await transactionKey(handle, transactionHash);
  if (transaction === null) return { items: [], hasMore: false };
  const branches = [
    {
      columns: ['transaction_id'],
      values: [transaction],
      only: { sql: 'trace_index > ?', bindings: [afterIndex ?? 0] },
    },
  ];
  return tracePage(handle, { branches, forward: true, limit });
}

async function tracePage(
  handle: Handle,
  query: Omit<KeyQuery, 'table'>,
): Promise<Page<InternalTransactionRow>> {
  const page = await pageOf(handle, { table: 'internal_transactions', ...query }, isAmong =>
    CALL.rows(handle, `where i.id ${isAmong.sql}`, isAmong.bindings),
  );
  return { ...page, items: page.items.map(internalTransactionOf) };
}

/**
 * First position in the block that is not before the given one. Rows are keyed by their position in the block, but
 * cursors count within the transaction. Reads only rows of this block.
 */
async function firstPosition(handle: Handle, at: TracePosition): Promise<BlockPosition> {
  const { blockNumber, transactionIndex, traceIndex } = at;
  const transaction = positionKey({ blockNumber, index: transactionIndex });
  const end = blockStart(blockNumber + 1);
  const [row] = await select({ from: 'internal_transactions', columns: ['id'] }).rows(
    handle,
    `where id >= ? and id < ? and (+transaction_id, trace_index) >= (?, ?) order by id limit 1`,
    [blockStart(blockNumber), end, transaction, traceIndex],
  );
  return positionOf(row?.id ?? end);
}

const CALL = select({
  from: 'internal_transactions i',
  join: ['transactions t on t.id = i.transaction_id'],
  columns: ['i.*', 't.hash as transaction_hash', 't.timestamp'],
});

function internalTransactionOf(row: RowIn<typeof CALL>): InternalTransactionRow {
  const isLog = row.type === COIN_LOG;
  return {
    blockNumber: positionOf(row.id).blockNumber,
    transactionIndex: positionOf(row.transaction_id).index,
    traceIndex: row.trace_index,
    transactionHash: hexOf(row.transaction_hash),
    timestamp: row.timestamp,
    type: isLog ? null : row.type,
    from: hexOf(row.from_address),
    to: nullableHex(row.to_address),
    createdContract: nullableHex(row.created_contract),
    value: uintOf(row.value),
    gasLimit: isLog ? null : uintOf(row.gas_limit),
    gasUsed: isLog ? null : uintOf(row.gas_used),
    error: row.error,
  };
}

interface AddressInternalQuery {
  address: Address;
  /** `to` includes the creation of the address (Decision 44). Both directions when absent. */
  direction?: Direction | undefined;
  before?: TracePosition | undefined;
  limit: number;
}

const SIDES = { from: ['from_address'], to: ['to_address', 'created_contract'] } as const;

/** Internal transactions from or to an address, newest first, without duplicates. */
export async function addressInternalTransactions(
  handle: Handle,
  { before, limit, ...side }: AddressInternalQuery,
): Promise<Page<InternalTransactionRow>> {
  return tracePage(handle, {
    branches: sidesOf(side, SIDES),
    limit,
    before: before === undefined ? undefined : await firstPosition(handle, before),
  });
}

/** Internal transactions of a canonical block, in order of execution. */
export async function blockInternalTransactions(
  handle: Handle,
  { blockNumber, after, limit }: BlockInternalQuery,
): Promise<Page<InternalTransactionRow>> {
  const next =
    after && (await firstPosition(handle, { ...after, blockNumber, traceIndex: after.traceIndex + 1 }));
  return tracePage(handle, {
    branches: [EVERYTHING],
    blockNumber,
    forward: true,
    limit,
    after: next === undefined ? undefined : positionOf(positionKey(next) - 1),
  });
}

interface BlockInternalQuery {
  blockNumber: number;
  after?: Omit<TracePosition, 'blockNumber'> | undefined;
  limit: number;
}
