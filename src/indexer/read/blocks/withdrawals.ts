import type { Address } from 'viem';
import { bytesColumn, hexOf, uintOf } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import { blockStart } from '../../schema/block-position.ts';
import type { Page } from '../page.ts';

/** A withdrawal from the beacon chain. Time of its block in UTC milliseconds. */
export interface WithdrawalRow {
  /** Counts all withdrawals of the chain: the page cursor (EIP-4895). */
  index: number;
  validatorIndex: number;
  receiver: Address;
  /** In wei. */
  amount: bigint;
  blockNumber: number;
  timestamp: number;
}

export interface WithdrawalQuery {
  /** At most one of these two. */
  receiver?: Address;
  blockNumber?: number;
  beforeIndex?: number;
  limit: number;
}

/** Withdrawals, newest first: of an address, of a block, or all of them. */
export async function withdrawals(handle: Handle, query: WithdrawalQuery): Promise<Page<WithdrawalRow>> {
  const { beforeIndex = Number.MAX_SAFE_INTEGER, limit } = query;
  const { where, bindings } = condition(query);
  const rows = await handle.raw<WithdrawalColumns[]>(
    `select w.withdrawal_index, w.validator_index, w.address, w.amount, w.block_number, b.timestamp
     from withdrawals w cross join blocks b on b.number = w.block_number
     where ${where} limit ?`,
    [...bindings, beforeIndex, limit + 1],
  );
  return { items: rows.slice(0, limit).map(withdrawalOf), hasMore: rows.length > limit };
}

/** Each ends in the upper limit of the index. Within a block, places run as the withdrawals do. */
function condition({ receiver, blockNumber }: WithdrawalQuery): {
  where: string;
  bindings: (number | Buffer)[];
} {
  if (blockNumber !== undefined) {
    return {
      where: 'w.id >= ? and w.id < ? and +w.withdrawal_index < ? order by w.id desc',
      bindings: [blockStart(blockNumber), blockStart(blockNumber + 1)],
    };
  }
  const order = 'w.withdrawal_index < ? order by w.withdrawal_index desc';
  return receiver === undefined
    ? { where: order, bindings: [] }
    : { where: `w.address = ? and ${order}`, bindings: [bytesColumn(receiver)] };
}

interface WithdrawalColumns {
  withdrawal_index: number;
  validator_index: number;
  address: Buffer;
  amount: string;
  block_number: number;
  timestamp: number;
}

function withdrawalOf(row: WithdrawalColumns): WithdrawalRow {
  return {
    index: row.withdrawal_index,
    validatorIndex: row.validator_index,
    receiver: hexOf(row.address),
    amount: uintOf(row.amount),
    blockNumber: row.block_number,
    timestamp: row.timestamp,
  };
}
