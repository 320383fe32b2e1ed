import type { TracePlace } from '#indexer/read/blocks/internal-transactions.ts';
import type { CursorPosition } from '../../port/cursor.ts';
import { HIGHEST_BLOCK, isHeight, type Keys, LAST_INDEX, notOurs, together } from './position.ts';

/**
 * Where a list of internal transactions goes on; undefined at its start. Decision 4: the keys belong together.
 * @throws BackendError `rejected` when some are given and these three are not among them.
 */
export function tracePlace(position: CursorPosition | undefined, query: Keys): TracePlace | undefined {
  const keys = together(position, query, ['block_number', 'transaction_index', 'index']);
  const { block_number: blockNumber, transaction_index: transactionIndex, index: traceIndex } = keys;
  if (blockNumber === undefined && transactionIndex === undefined && traceIndex === undefined)
    return undefined;
  if (!isHeight(blockNumber) || !isHeight(transactionIndex) || !isHeight(traceIndex)) throw notOurs();
  if (blockNumber >= HIGHEST_BLOCK) return undefined;
  return { blockNumber, transactionIndex: Math.min(transactionIndex, LAST_INDEX), traceIndex };
}
