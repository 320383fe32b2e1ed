import type { Hash } from 'viem';
import type { TransactionRow } from '../../../indexer/reader/transaction-row.ts';
import { BackendError } from '../../port/backend-error.ts';
import { type IndexSource, missingFrom } from './source.ts';

/** A transaction in a block, with how deep it lies. */
export interface Mined {
  readonly row: TransactionRow;
  readonly confirmations: number;
}

/**
 * The transaction behind a hash; undefined while it waits in the pool.
 * @throws BackendError when nobody knows it.
 */
export async function minedOrPending(source: IndexSource, hash: Hash): Promise<Mined | undefined> {
  const { reader } = source;
  const [row, head] = await Promise.all([reader.transactionByHash(hash), reader.head()]);
  if (row !== null) {
    const height = head?.number ?? row.blockNumber;
    return { row, confirmations: Math.max(0, height - row.blockNumber) };
  }
  if ((await reader.pendingTransaction(hash)) === null) throw missingFrom(source, `Transaction ${hash}`);
  return undefined;
}

/** What to throw when the node was reached but cannot tell. `what` names its ability. */
export function nodeCannot(what: string): BackendError {
  return new BackendError('unsupported', 'no_such_answer', `the node cannot ${what}`);
}
