import type { Hash } from 'viem';
import type { BlockRow } from '#indexer/read/blocks/blocks.ts';
import type { TransactionRow } from '#indexer/read/blocks/transactions.ts';
import { MinedMeanwhile, type PendingTransaction } from '#node/pending-transactions.ts';
import { BackendError } from '../../port/backend-error.ts';
import { confirmationsAt, type IndexSource, missingFrom, notIndexed, notReadYet } from './source.ts';

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

/** Error for an answer that needs a part of a block which the node has not given. It is asked for again. */
function notGiven(part: string): BackendError {
  return new BackendError('unsupported', 'no_such_answer', `the node has not given ${part}`);
}

/** @throws BackendError `unsupported` when the transaction's receipt is missing, on which the answer depends. */
export function assertReceipt({ row }: MinedTransaction): void {
  if (row.gasUsed === null) throw notGiven('the receipt of this transaction');
}

/**
 * Guards the calls inside a transaction. Logs of the chain stand in for its trace (Decision 373).
 * @throws BackendError `unsupported` when neither is there
 */
export async function assertCalls(source: IndexSource, { row }: MinedTransaction): Promise<void> {
  if (row.hasInternalError !== null) return;
  const block = await source.reader.blockByNumberOrHash(row.blockNumber);
  if (row.gasUsed === null || block?.hasCoinLogs !== true) throw await untraced(source, row.blockNumber);
}

/** The same for a block. */
export async function assertCallsOfBlock(source: IndexSource, block: BlockRow): Promise<void> {
  const { isCanonical, internalTransactionCount, hasCoinLogs, transactionFees } = block;
  if (!isCanonical || internalTransactionCount !== null) return;
  if (!hasCoinLogs || transactionFees === null) throw await untraced(source, block.number);
}

/** Error for the calls inside a block or one of its transactions, when they are not known. */
async function untraced({ reader }: IndexSource, blockNumber: number): Promise<BackendError> {
  const isAwaited = (await reader.unreadBlock(blockNumber)) !== null;
  return isAwaited ? notGiven(`the traces of block ${blockNumber}`) : nodeCannot('trace');
}

/**
 * Guards lists of internal transactions over many blocks. Logs of the chain stand in for traces (Decision 373). Single
 * blocks without traces do not matter: otherwise one transaction whose trace is too large would take the list away from
 * everyone (Decision 285).
 * @throws BackendError `unsupported` when the node does not trace
 */
export async function assertTraces({ reader }: IndexSource): Promise<void> {
  // A block without transactions needs no traces, and shows nothing about the node.
  const { items } = await reader.transactions({ limit: 1 });
  const [newest] = items;
  if (newest === undefined || newest.hasInternalError !== null) return;
  const block = await reader.blockByNumberOrHash(newest.blockNumber);
  if (block === null || block.hasCoinLogs) return;
  if ((await reader.unreadBlock(newest.blockNumber)) === null) throw nodeCannot('trace');
}

function minedAt(source: IndexSource, row: TransactionRow): FoundTransaction {
  return { mined: { row, confirmations: confirmationsAt(source, row.blockNumber) }, pending: undefined };
}
