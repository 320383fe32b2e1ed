import type { Address, Hash } from 'viem';
import { bytesColumn, hexOf, hexOrNull, uintOf } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import { placeholders } from '#db/rows.ts';
import { type BlockPosition, blockStart, positionKey, positionOf } from '../../schema/block-position.ts';
import { EVERYTHING, inOrder, type Page, pageKeys } from '../page.ts';
import { transactionKey } from './transactions.ts';

/** A call, creation or self-destruction inside a transaction. Amounts in wei, time in UTC milliseconds. */
export interface InternalTransactionRow {
  blockNumber: number;
  /** Position of the transaction in its block. */
  transactionIndex: number;
  /** Place in the transaction's trace, depth first, from 1: 0 is the transaction's own call. */
  traceIndex: number;
  transactionHash: Hash;
  timestamp: number;
  /** call, callcode, delegatecall, staticcall, create, create2 or selfdestruct. */
  type: string;
  from: Address;
  /** Null for a creation; of a self-destruction the heir. */
  to: Address | null;
  createdContract: Address | null;
  value: bigint;
  gasLimit: bigint;
  gasUsed: bigint;
  /** The node's words; null when it succeeded. */
  error: string | null;
}

/** Where an internal transaction is, in the terms of document 1's cursors. */
export interface TracePlace {
  blockNumber: number;
  transactionIndex: number;
  traceIndex: number;
}

/** Internal transactions of the whole chain, newest first. */
export async function internalTransactions(
  handle: Handle,
  { limit, before }: { limit: number; before?: TracePlace },
): Promise<Page<InternalTransactionRow>> {
  return rowsOf(
    handle,
    await pageKeys(handle, {
      table: 'internal_transactions',
      branches: [EVERYTHING],
      limit,
      ...(before === undefined ? {} : { before: await firstPlace(handle, before) }),
    }),
  );
}

/** Those of one transaction in the order of its trace; none when the transaction is unknown. */
export async function internalTransactionsOf(
  handle: Handle,
  { transactionHash, limit, afterIndex }: { transactionHash: Hash; limit: number; afterIndex?: number },
): Promise<Page<InternalTransactionRow>> {
  const transaction = await transactionKey(handle, transactionHash);
  if (transaction === null) return { items: [], hasMore: false };
  const branches = [
    {
      where: 'transaction_id = ? and trace_index > ?',
      bindings: [transaction, afterIndex ?? 0],
    },
  ];
  return rowsOf(
    handle,
    await pageKeys(handle, { table: 'internal_transactions', branches, forward: true, limit }),
  );
}

/** Rows of a page of keys, whichever way these were found. */
async function rowsOf(
  handle: Handle,
  { keys, hasMore }: { keys: number[]; hasMore: boolean },
): Promise<Page<InternalTransactionRow>> {
  if (keys.length === 0) return { items: [], hasMore };
  const rows = await handle.raw<InternalColumns[]>(
    `${SELECT} where i.id in (${placeholders(keys.length)})`,
    keys,
  );
  return { items: inOrder(keys, rows).map(internalTransactionOf), hasMore };
}

/**
 * The first place in the block that is not before the given one: rows are keyed by their place in the block, cursors
 * count within the transaction. Looks at rows of this one block only.
 */
async function firstPlace(handle: Handle, at: TracePlace): Promise<BlockPosition> {
  const { blockNumber, transactionIndex, traceIndex } = at;
  const transaction = positionKey({ blockNumber, index: transactionIndex });
  const end = blockStart(blockNumber + 1);
  const [row] = await handle.raw<{ id: number }[]>(
    `select id from internal_transactions
     where id >= ? and id < ? and (+transaction_id, trace_index) >= (?, ?) order by id limit 1`,
    [blockStart(blockNumber), end, transaction, traceIndex],
  );
  return positionOf(row?.id ?? end);
}

const SELECT = `select i.*, t.hash as transaction_hash, t.timestamp
  from internal_transactions i cross join transactions t on t.id = i.transaction_id`;

interface InternalColumns {
  id: number;
  transaction_id: number;
  transaction_hash: Buffer;
  timestamp: number;
  trace_index: number;
  type: string;
  from_address: Buffer;
  to_address: Buffer | null;
  created_contract: Buffer | null;
  value: string;
  gas_limit: string;
  gas_used: string;
  error: string | null;
}

function internalTransactionOf(row: InternalColumns): InternalTransactionRow {
  return {
    blockNumber: positionOf(row.id).blockNumber,
    transactionIndex: positionOf(row.transaction_id).index,
    traceIndex: row.trace_index,
    transactionHash: hexOf(row.transaction_hash),
    timestamp: row.timestamp,
    type: row.type,
    from: hexOf(row.from_address),
    to: hexOrNull(row.to_address),
    createdContract: hexOrNull(row.created_contract),
    value: uintOf(row.value),
    gasLimit: uintOf(row.gas_limit),
    gasUsed: uintOf(row.gas_used),
    error: row.error,
  };
}

interface AddressInternalQuery {
  address: Address;
  /** `to` includes the creation of the address; both when absent. Decision 44. */
  direction?: 'from' | 'to';
  before?: TracePlace;
  limit: number;
}

const COLUMNS = { from: ['from_address'], to: ['to_address', 'created_contract'] } as const;

/** Internal transactions that an address made or that were made to it, newest first, each once. */
export async function addressInternalTransactions(
  handle: Handle,
  { address, direction, before, limit }: AddressInternalQuery,
): Promise<Page<InternalTransactionRow>> {
  const columns = direction === undefined ? [...COLUMNS.from, ...COLUMNS.to] : COLUMNS[direction];
  const branches = columns.map(column => ({ where: `${column} = ?`, bindings: [bytesColumn(address)] }));
  return rowsOf(
    handle,
    await pageKeys(handle, {
      table: 'internal_transactions',
      branches,
      limit,
      ...(before === undefined ? {} : { before: await firstPlace(handle, before) }),
    }),
  );
}
