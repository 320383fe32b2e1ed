import type { Handle } from '#db/open.ts';
import {
  type BlockPosition,
  blockStart,
  KEYS_PER_BLOCK,
  positionKey,
  positionOf,
} from '../../schema/block-position.ts';
import { select } from '../../schema/select.ts';

/**
 * Place in a list of token transfers, as every explorer counts it. Without `batchIndex`, all transfers of the log are on
 * the same side of it.
 */
export interface TransferPosition {
  readonly blockNumber: number;
  readonly logIndex: number;
  /** Place in an ERC-1155 batch. */
  readonly batchIndex: number | undefined;
}

/** Position of the block's first transfer that is not before `at`, or of the block's end. */
export async function firstNotBefore(handle: Handle, at: TransferPosition): Promise<BlockPosition> {
  const { blockNumber, logIndex, batchIndex = 0 } = at;
  const end = { blockNumber, index: KEYS_PER_BLOCK - 1 };
  const [first] = await KEY.rows(
    handle,
    `where id >= ? and id < ? and (log_index > ? or (log_index = ? and batch_index >= ?)) order by id limit 1`,
    [blockStart(blockNumber), positionKey(end), logIndex, logIndex, batchIndex],
  );
  return first === undefined ? end : positionOf(first.id);
}

/** Position of the block's last transfer that is not after `at`; undefined when there is none. */
export async function lastNotAfter(handle: Handle, at: TransferPosition): Promise<BlockPosition | undefined> {
  const { blockNumber, logIndex, batchIndex = KEYS_PER_BLOCK } = at;
  const end = { blockNumber, index: KEYS_PER_BLOCK - 1 };
  const [last] = await KEY.rows(
    handle,
    `where id >= ? and id < ? and (log_index < ? or (log_index = ? and batch_index <= ?)) order by id desc limit 1`,
    [blockStart(blockNumber), positionKey(end), logIndex, logIndex, batchIndex],
  );
  return last && positionOf(last.id);
}

const KEY = select({ from: 'token_transfers', columns: ['id'] });
