import { bytesColumn, bytesOrNullColumn, type Column } from '../../db/columns.ts';
import type { FetchedBlock } from '../fetch/fetched-block.ts';
import { positionKey } from '../schema/block-position.ts';
import { timestampMs } from './quantities.ts';

/** A row a log, keyed by the block and the log's index in it. */
export function logRows({ number: blockNumber, block, transactions }: FetchedBlock): Column[][] {
  const timestamp = timestampMs(block);
  return transactions.flatMap(({ receipt }, position) => {
    const transactionId = positionKey({ blockNumber, index: position });
    return receipt.logs.map(({ address, topics, data, logIndex }) => [
      positionKey({ blockNumber, index: Number(logIndex) }),
      transactionId,
      timestamp,
      bytesColumn(address),
      bytesOrNullColumn(topics[0]),
      bytesOrNullColumn(topics[1]),
      bytesOrNullColumn(topics[2]),
      bytesOrNullColumn(topics[3]),
      bytesColumn(data),
    ]);
  });
}
