import { isDeepStrictEqual } from 'node:util';
import type { RpcLog, RpcReceipt, RpcTransaction } from '#evm/rpc.ts';
import { ContradictoryBlock } from '../../node/block-ref.ts';

/**
 * Removes transactions that a node lists twice.
 * @throws ContradictoryBlock when two different ones have the same hash
 */
export function distinctTransactions(
  transactions: readonly RpcTransaction[],
  number: number,
): RpcTransaction[] {
  return transactions.filter(firstOfEach(({ hash }) => hash, `two transactions have the hash`, number));
}

/**
 * Removes receipts that a node lists twice.
 * @throws ContradictoryBlock when two different ones belong to the same transaction
 */
export function distinctReceipts(receipts: readonly RpcReceipt[], number: number): RpcReceipt[] {
  const hashOf = ({ transactionHash }: RpcReceipt) => transactionHash;
  return receipts.filter(firstOfEach(hashOf, 'two receipts are of the transaction', number));
}

/**
 * Removes logs that a node lists twice.
 * @throws ContradictoryBlock when two different ones have the same index in the block
 */
export function withDistinctLogs(receipts: readonly RpcReceipt[], number: number): readonly RpcReceipt[] {
  if (areInOrder(receipts)) return receipts;
  const isFirst = firstOfEach(logIndexOf, 'two logs have the index', number);
  return receipts.map(receipt => ({ ...receipt, logs: receipt.logs.filter(isFirst) }));
}

/** True when each log has a higher index than the one before, as in almost every block. */
function areInOrder(receipts: readonly RpcReceipt[]): boolean {
  let last = -1;
  for (const log of receipts.values().flatMap(({ logs }) => logs)) {
    if (logIndexOf(log) <= last) return false;
    last = logIndexOf(log);
  }
  return true;
}

function logIndexOf({ logIndex }: RpcLog): number {
  return Number(logIndex);
}

/**
 * Filter that keeps the first entry of each key and drops exact repetitions.
 * @throws ContradictoryBlock when two entries of one key differ
 */
function firstOfEach<Entry>(
  keyOf: (entry: Entry) => string | number,
  fault: string,
  block: number,
): (entry: Entry) => boolean {
  const known = new Map<string | number, Entry>();
  return entry => {
    const key = keyOf(entry);
    const before = known.get(key);
    if (before !== undefined && !isDeepStrictEqual(before, entry)) {
      throw new ContradictoryBlock(block, `${fault} ${key}`, { isOfContents: true });
    }
    known.set(key, entry);
    return before === undefined;
  };
}
