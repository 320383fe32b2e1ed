import type { RpcBlock, RpcTransaction } from '../rpc.ts';
import { contradiction, encodings, type Problem, unproven } from './block-proof.ts';
import { EMPTY, isHashOf, isSame } from './bytes.ts';
import { rootOf } from './ordered-trie.ts';
import { BLOBS, encodedTransaction, isOfChainItself, transactionType } from './transaction-encoding.ts';

/** Compares the transactions of a block, and their hashes, with the root in its header. */
export async function transactionsProblem(
  { transactionsRoot }: RpcBlock,
  transactions: readonly RpcTransaction[],
): Promise<Problem | undefined> {
  // The first block of EDR has the hash of nothing in place of the root of an empty list.
  if (transactions.length === 0 && isHashOf(transactionsRoot, EMPTY)) return undefined;
  const encoded = await encodings(transactions, encodedTransaction);
  const known = encoded.filter(one => one !== undefined);
  if (known.length < encoded.length) {
    const unknown = transactions.filter((_, at) => encoded[at] === undefined);
    return unproven(`transactions of type ${typesOf(unknown)} cannot be encoded`);
  }
  const misnamed = transactions.filter(({ hash }, at) => !isHashOf(hash, known[at]));
  if (isSame(transactionsRoot, rootOf(known))) {
    if (misnamed.length === 0) return undefined;
    return contradiction('transactions', 'a transaction does not have the hash that it names');
  }
  if (misnamed.some(isOfChainItself))
    return unproven(`transactions of type ${typesOf(misnamed)} are encoded otherwise`);
  // Anvil's root is over blob transactions with their blobs, which blocks do not contain. Source: EIP-4844, "Networking".
  if (misnamed.length === 0 && transactions.some(one => transactionType(one) === BLOBS))
    return unproven(
      'the root of the transactions is not over their encodings, though these have the right hashes',
    );
  return contradiction('transactions', 'the transactions do not have the root that the header names');
}

function typesOf(transactions: readonly RpcTransaction[]): string {
  return [...new Set(transactions.map(one => `0x${transactionType(one).toString(16)}`))].join(', ');
}
