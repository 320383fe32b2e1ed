import { bytesColumn, bytesOrNullColumn } from '../../db/columns.ts';
import type { FetchedBlock } from '../fetch/fetched-block.ts';
import { positionKey } from '../schema/block-position.ts';
import type { LOG_COLUMNS, RowOf } from '../schema/columns.ts';
import { timestampMs } from './quantities.ts';

/** A row a log, keyed by the block and the log's index in it. */
export function logRows({
  number: blockNumber,
  block,
  transactions,
}: FetchedBlock): RowOf<typeof LOG_COLUMNS>[] {
  const timestamp = timestampMs(block);
  return transactions.flatMap(({ receipt }, position) => {
    const transactionId = positionKey({ blockNumber, index: position });
    return receipt.logs.map(({ address, topics, data, logIndex }) => ({
      id: positionKey({ blockNumber, index: Number(logIndex) }),
      transaction_id: transactionId,
      timestamp,
      address: bytesColumn(address),
      topic0: bytesOrNullColumn(topics[0]),
      topic1: bytesOrNullColumn(topics[1]),
      topic2: bytesOrNullColumn(topics[2]),
      topic3: bytesOrNullColumn(topics[3]),
      data: bytesColumn(data),
    }));
  });
}
