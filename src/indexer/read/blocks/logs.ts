import type { Address, Hash, Hex } from 'viem';
import { bytesColumn, hexOf, nullableHex } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import type { RowIn } from '#db/select/select.ts';
import { positionOf } from '../../schema/block-position.ts';
import { select } from '../../schema/select.ts';
import { type ForwardPageRequest, type KeyQuery, type Page, type PageRequest, pageOf } from '../page.ts';
import { transactionKey } from './transactions.ts';

/** A log with its transaction. Times are UTC milliseconds. */
export interface LogRow {
  blockNumber: number;
  /** Log index in the block. */
  index: number;
  blockHash: Hash;
  timestamp: number;
  transactionHash: Hash;
  /** Receiver of the transaction; null for a creation. */
  transactionTo: Address | null;
  /** Contract that emitted it. */
  address: Address;
  topics: Hex[];
  data: Hex;
}

/** Logs of one transaction, in order. Empty when the transaction is unknown. */
export async function logs(
  handle: Handle,
  { transactionHash, ...page }: ForwardPageRequest & { transactionHash: Hash },
): Promise<Page<LogRow>> {
  const transaction = await transactionKey(handle, transactionHash);
  if (transaction === null) return { items: [], hasMore: false };
  const branches = [{ columns: ['transaction_id'], values: [transaction] }];
  return logPage(handle, { branches, forward: true, ...page });
}

/** Logs that a contract emitted, newest first. */
export async function addressLogs(
  handle: Handle,
  { address, ...page }: PageRequest & { address: Address },
): Promise<Page<LogRow>> {
  const branches = [{ columns: ['address'], values: [bytesColumn(address)] }];
  return logPage(handle, { branches, ...page });
}

async function logPage(handle: Handle, query: Omit<KeyQuery, 'table'>): Promise<Page<LogRow>> {
  const page = await pageOf(handle, { table: 'logs', ...query }, isAmong =>
    LOG.rows(handle, `where l.id ${isAmong.sql}`, isAmong.bindings),
  );
  return { ...page, items: page.items.map(logOf) };
}

const LOG = select({
  from: 'logs l',
  join: ['transactions t on t.id = l.transaction_id', 'blocks b on b.number = l.id >> 20'],
  columns: ['l.*', 't.hash as transaction_hash', 't.to_address as transaction_to', 'b.hash as block_hash'],
});

function logOf(row: RowIn<typeof LOG>): LogRow {
  return {
    ...positionOf(row.id),
    blockHash: hexOf(row.block_hash),
    timestamp: row.timestamp,
    transactionHash: hexOf(row.transaction_hash),
    transactionTo: nullableHex(row.transaction_to),
    address: hexOf(row.address),
    topics: [row.topic0, row.topic1, row.topic2, row.topic3].filter(topic => topic !== null).map(hexOf),
    data: hexOf(row.data),
  };
}
