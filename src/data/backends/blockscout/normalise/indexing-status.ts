import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { fieldsOf, required } from '../../upstream-json/fields.ts';
import { booleanOrNull, decimalOrNull } from '../../upstream-json/values.ts';

/**
 * How far upstream has indexed. Its ratios are text, although its documents say numbers; that of internal transactions
 * is null until the blocks are complete.
 * @throws Unreadable when it does not say how far the blocks are.
 */
export function indexingStatus(value: unknown): ExplorerSchemas['IndexingStatus'] {
  const record = fieldsOf(value);
  return {
    finished_indexing: required(booleanOrNull(record.finished_indexing), 'finished_indexing'),
    finished_indexing_blocks: required(
      booleanOrNull(record.finished_indexing_blocks),
      'finished_indexing_blocks',
    ),
    indexed_blocks_ratio: required(decimalOrNull(record.indexed_blocks_ratio), 'indexed_blocks_ratio'),
    indexed_internal_transactions_ratio: decimalOrNull(record.indexed_internal_transactions_ratio),
  };
}
