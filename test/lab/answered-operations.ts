import { explorerContract } from '#contract/contracts/explorer.ts';
import { isEventStream, type OperationRow } from '#contract/contracts/operations.ts';

/** Operations of document 1 that back ends answer: all but the stream of events, which does not end. */
export const ANSWERED_OPERATIONS: readonly OperationRow[] = Object.values<OperationRow>(
  explorerContract.table,
).filter(row => !isEventStream(row));
