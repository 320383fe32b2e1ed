import type { Address } from 'viem';
import { bytesColumn, hexOf, uintOf } from '#db/columns.ts';
import type { Dialect, OrderedSql } from '#db/dialect.ts';
import type { Handle } from '#db/open.ts';
import { BOUND } from '#db/query.ts';
import type { RowIn } from '#db/select/select.ts';
import { blockStart, positionOf } from '../../schema/block-position.ts';
import { select } from '../../schema/select.ts';
import type { Page } from '../page.ts';

/** A withdrawal from the beacon chain. `timestamp` is its block's time in UTC milliseconds. */
export interface WithdrawalRow {
  /** Number of the withdrawal on the whole chain (EIP-4895), used as the page cursor. */
  index: number;
  validatorIndex: number;
  receiver: Address;
  /** In wei. */
  amount: bigint;
  blockNumber: number;
  timestamp: number;
}

export interface WithdrawalQuery {
  /** At most one of these two may be set. */
  receiver?: Address;
  blockNumber?: number;
  beforeIndex?: number | undefined;
  limit: number;
}

/** Withdrawals of an address, of a block or of the whole chain, newest first. */
export async function withdrawals(handle: Handle, query: WithdrawalQuery): Promise<Page<WithdrawalRow>> {
  const { sql, bindings, order } = condition(handle.dialect, query);
  const rows = await WITHDRAWAL.rows(handle, `where ${sql} order by ${order} limit ${BOUND}`, [
    ...bindings,
    query.limit + 1,
  ]);
  return { items: rows.slice(0, query.limit).map(withdrawalOf), hasMore: rows.length > query.limit };
}

/** Condition and order of a query. Within a block, key order equals withdrawal order. */
function condition({ keyRange }: Dialect, query: WithdrawalQuery): OrderedSql {
  const { receiver, blockNumber, beforeIndex = Number.MAX_SAFE_INTEGER } = query;
  if (blockNumber !== undefined) {
    return {
      sql: 'w.id >= ? and w.id < ? and +w.withdrawal_index < ?',
      bindings: [blockStart(blockNumber), blockStart(blockNumber + 1), beforeIndex],
      order: 'w.id desc',
    };
  }
  return keyRange({
    columns: receiver === undefined ? [] : ['w.address'],
    values: receiver === undefined ? [] : [bytesColumn(receiver)],
    keys: ['w.withdrawal_index'],
    below: [beforeIndex],
    order: 'desc',
  });
}

const WITHDRAWAL = select({
  from: 'withdrawals w',
  join: ['blocks b on b.number = w.id >> 20'],
  columns: ['w.withdrawal_index', 'w.validator_index', 'w.address', 'w.amount', 'w.id', 'b.timestamp'],
});

function withdrawalOf(row: RowIn<typeof WITHDRAWAL>): WithdrawalRow {
  return {
    index: row.withdrawal_index,
    validatorIndex: row.validator_index,
    receiver: hexOf(row.address),
    amount: uintOf(row.amount),
    blockNumber: positionOf(row.id).blockNumber,
    timestamp: row.timestamp,
  };
}
