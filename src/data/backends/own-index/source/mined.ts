import type { Hash } from 'viem';
import type { TransactionRow } from '#indexer/read/blocks/transactions.ts';
import { MinedMeanwhile, type PendingTransaction } from '#node/pending-transactions.ts';
import { BackendError } from '../../port/backend-error.ts';
import { confirmationsOf, type IndexSource, missingFrom, notIndexed, notReadYet } from './source.ts';

/** A transaction in a block, with its depth. */
export interface MinedTransaction {
  readonly row: TransactionRow;
  readonly confirmations: number;
}

/** A transaction in a block of the index, or a pending one in the node's pool. */
export type FoundTransaction =
  | { readonly mined: MinedTransaction; readonly pending: undefined }
  | { readonly mined: undefined; readonly pending: PendingTransaction };

/**
 * Finds a transaction by hash. Null when neither the index nor the node has it. If it was just mined, the call waits
 * until the index has its block.
 * @throws BackendError when the index has not read its block.
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
    // An index that is still filling will read this block later.
    if (!source.hasCaughtUp()) throw notReadYet(source, { cause: error });
    const arrived = await source.untilFound(() => reader.transactionByHash(hash));
    if (arrived === null)
      throw notReadYet(source, {
        message: `transaction ${hash} is in a block that the index has not read yet`,
        cause: error,
      });
    return minedAt(source, arrived);
  }
}

/** @throws BackendError as `findTransaction`, and when the transaction is unknown. */
export async function knownTransaction(source: IndexSource, hash: Hash): Promise<FoundTransaction> {
  const found = await findTransaction(source, hash);
  if (found === null) throw missingFrom(source, `Transaction ${hash}`, { isUnknownToNode: true });
  return found;
}

/**
 * Finds a mined transaction by hash; undefined while it is pending.
 * @throws BackendError as `knownTransaction`.
 */
export async function minedOrPending(source: IndexSource, hash: Hash): Promise<MinedTransaction | undefined> {
  return (await knownTransaction(source, hash)).mined;
}

/** Error for a node that is reachable but lacks an ability. `what` names it. */
export function nodeCannot(what: string): BackendError {
  return new BackendError('unsupported', 'no_such_answer', `the node cannot ${what}`);
}

function minedAt(source: IndexSource, row: TransactionRow): FoundTransaction {
  return { mined: { row, confirmations: confirmationsOf(source, row.blockNumber) }, pending: undefined };
}
