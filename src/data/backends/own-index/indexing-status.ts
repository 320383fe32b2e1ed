import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { Answer } from '../port/backend.ts';
import { BackendError } from '../port/backend-error.ts';
import type { IndexSource } from './source/source.ts';

/**
 * How much of the chain the index has, now. A node's head rises without anything changing here, so the answer is
 * never a settled one.
 * @throws BackendError `unavailable` while the node has not told how long its chain is.
 */
export async function indexingStatus(
  source: IndexSource,
): Promise<Answer<ExplorerSchemas['IndexingStatus']>> {
  const { head, lag } = source.progress();
  if (head === null) return { unsettled: true, body: NOTHING_YET };
  if (lag === null) {
    throw new BackendError('unavailable', 'incomplete', 'the node has not told its latest block yet');
  }
  const { blocks, filledBlocks, untracedBlocks } = await source.reader.totals();
  // The index has no gaps, so what it lacks is what the node is ahead.
  const all = blocks + lag;
  const isComplete = source.isAtHead();
  const hasNoTraces = untracedBlocks > 0 && untracedBlocks === filledBlocks;
  return {
    unsettled: true,
    body: {
      finished_indexing: isComplete && (hasNoTraces || untracedBlocks === 0),
      finished_indexing_blocks: isComplete,
      indexed_blocks_ratio: ratio(blocks, all),
      indexed_internal_transactions_ratio:
        isComplete && !hasNoTraces ? ratio(blocks - untracedBlocks, all) : null,
    },
  };
}

const NOTHING_YET: ExplorerSchemas['IndexingStatus'] = {
  finished_indexing: false,
  finished_indexing_blocks: false,
  indexed_blocks_ratio: '0.00',
  indexed_internal_transactions_ratio: null,
};

/** Two decimals, cut off: 1.00 is all and nothing less. */
function ratio(part: number, whole: number): string {
  return (whole === 0 ? 0 : Math.floor((part * 100) / whole) / 100).toFixed(2);
}
