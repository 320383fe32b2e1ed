import type { Hash } from 'viem';
import type { TransactionRow } from '#indexer/read/blocks/transactions.ts';
import { MinedMeanwhile, type PendingTransaction } from '#node/pending-transactions.ts';
import { BackendError } from '../../port/backend-error.ts';
import { confirmationsOf, type IndexSource, incomplete, missingFrom, notIndexed } from './source.ts';

/** A transaction in a block, with how deep it lies. */
export interface MinedTransaction {
  readonly row: TransactionRow;
  readonly confirmations: number;
}

/** A transaction in a block of the index, or one that waits in the node's pool. */
export type FoundTransaction =
  | { readonly mined: MinedTransaction; readonly pending: undefined }
  | { readonly mined: undefined; readonly pending: PendingTransaction };

/** When to ask again for a transaction that the index did not read in time. */
const RETRY_AFTER_MS = 1_000;

/**
 * The transaction behind a hash; null when neither the index nor the node has it. A transaction that was mined a moment
 * ago is waited for until the index has its block.
 * @throws BackendError when it is in a block that the index has yet to read.
 */
export async function findTransaction(source: IndexSource, hash: Hash): Promise<FoundTransaction | null> {
  const { reader } = source;
  const row = await reader.transactionByHash(hash);
  if (row !== null) return minedAt(source, row);
  try {
    const pending = await reader.pendingTransaction(hash);
    return pending === null ? null : { mined: undefined, pending };
  } catch (error) {
    if (!(error instanceof MinedMeanwhile)) throw error;
    if (error.blockNumber < source.firstBlock()) throw notIndexed(source, error);
    // An index that is still being filled has this block for later.
    if (!source.hasCaughtUp()) throw incomplete(error);
    const arrived = await source.untilFound(() => reader.transactionByHash(hash));
    if (arrived === null) throw notReadYet(hash, error);
    return minedAt(source, arrived);
  }
}

/** @throws BackendError as `findTransaction`, and when nobody knows the transaction. */
export async function knownTransaction(source: IndexSource, hash: Hash): Promise<FoundTransaction> {
  const found = await findTransaction(source, hash);
  if (found === null) throw missingFrom(source, `Transaction ${hash}`);
  return found;
}

/**
 * The transaction behind a hash; undefined while it waits in the pool.
 * @throws BackendError as `knownTransaction`.
 */
export async function minedOrPending(source: IndexSource, hash: Hash): Promise<MinedTransaction | undefined> {
  return (await knownTransaction(source, hash)).mined;
}

/** What to throw when the node was reached but cannot tell. `what` names its ability. */
export function nodeCannot(what: string): BackendError {
  return new BackendError('unsupported', 'no_such_answer', `the node cannot ${what}`);
}

function minedAt(source: IndexSource, row: TransactionRow): FoundTransaction {
  return { mined: { row, confirmations: confirmationsOf(source, row.blockNumber) }, pending: undefined };
}

function notReadYet(hash: Hash, cause: MinedMeanwhile): BackendError {
  const message = `transaction ${hash} is in a block that the index has not read yet`;
  return new BackendError('unavailable', 'incomplete', message, { cause, retryAfterMs: RETRY_AFTER_MS });
}
