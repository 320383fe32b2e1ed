import { ZERO_ADDRESS } from '../address.ts';
import type { RpcBlock, RpcReceipt, RpcTransaction } from '../rpc.ts';
import {
  type BlockContents,
  type BlockProof,
  contradiction,
  encodings,
  type Problem,
  unproven,
} from './block-proof.ts';
import { dataBytes, isHashOf, isSame, quantityBytes } from './bytes.ts';
import { encodedHeader, missingFields, unknownFields } from './header-encoding.ts';
import { rootOf } from './ordered-trie.ts';
import { transactionsProblem } from './prove-transactions.ts';
import { BLOOM_BYTES, computedBloom, encodedReceipt } from './receipt-encoding.ts';
import { rlp } from './rlp.ts';
import { OP_DEPOSIT, transactionType } from './transaction-encoding.ts';

/**
 * Recomputes the hash of a block, and the roots in its header, from what a node sent. It pauses in large blocks, because
 * a thousand logs take about 10 ms.
 *
 * The hash commits to the header, to the encodings of transactions and withdrawals, and to status, cumulative gas, bloom
 * filter and logs of each receipt. It commits to the sender of a transaction only by its signature, and not at all to
 * other fields of receipts and to traces.
 * @throws MalformedValue
 */
export async function proveBlock(contents: BlockContents): Promise<BlockProof> {
  const { block, transactions, receipts } = contents;
  const problem = headerProblem(block) ?? (await contentsProblem(contents));
  if (problem?.kind !== 'contradiction' || !isOutsideOfRoots(transactions.at(-1)))
    return problem ?? { kind: 'proven' };
  const listed = { block, transactions: transactions.slice(0, -1), receipts: receipts.slice(0, -1) };
  return (await contentsProblem(listed)) ?? unproven('the last transaction is in no root of the header');
}

/** Recomputes only the hash of a block and the root of its transactions. */
export async function proveBody({
  block,
  transactions,
}: Omit<BlockContents, 'receipts'>): Promise<BlockProof> {
  return headerProblem(block) ?? (await transactionsProblem(block, transactions)) ?? { kind: 'proven' };
}

/**
 * True for a transaction in which Polygon records events of Ethereum. Nodes list it last, and its block does not commit
 * to it. Source: bor, `core/types/bor_receipt.go`.
 */
function isOutsideOfRoots(transaction: RpcTransaction | undefined): boolean {
  if (transaction === undefined || transactionType(transaction) !== 0) return false;
  const { from, to, gas, r, s } = transaction;
  return [from, to].every(party => party === ZERO_ADDRESS) && [gas, r, s].every(one => Number(one) === 0);
}

async function contentsProblem({
  block,
  transactions,
  receipts,
}: BlockContents): Promise<Problem | undefined> {
  // Receipts come before transactions: they show that one was left out even where transactions cannot be encoded.
  return (
    withdrawalsProblem(block, transactions) ??
    (await receiptsProblem(block, { transactions, receipts })) ??
    (await transactionsProblem(block, transactions))
  );
}

function headerProblem(block: RpcBlock): Problem | undefined {
  const missing = missingFields(block);
  if (missing.length > 0) return { kind: 'other-hash', reason: `the header lacks ${missing.join(', ')}` };
  if (isHashOf(block.hash, encodedHeader(block))) return undefined;
  const unknown = unknownFields(block);
  if (unknown.length > 0) return unproven(`the header has unknown fields: ${unknown.join(', ')}`);
  return { kind: 'other-hash', reason: 'the fields of the header do not have the hash of the block' };
}

function withdrawalsProblem(
  { withdrawalsRoot, withdrawals }: RpcBlock,
  [first]: readonly RpcTransaction[],
): Problem | undefined {
  if (withdrawalsRoot === null || withdrawalsRoot === undefined) return undefined;
  // An OP-stack chain has no withdrawals, and uses the field for another root. Source: specs.optimism.io, "Isthmus".
  if (first !== undefined && transactionType(first) === OP_DEPOSIT) return undefined;
  if (withdrawals === null || withdrawals === undefined) return unproven('the withdrawals are missing');
  const encoded = withdrawals.map(({ index, validatorIndex, address, amount }) =>
    rlp([quantityBytes(index), quantityBytes(validatorIndex), dataBytes(address), quantityBytes(amount)]),
  );
  if (isSame(withdrawalsRoot, rootOf(encoded))) return undefined;
  return contradiction('withdrawals', 'the withdrawals do not have the root that the header names');
}

async function receiptsProblem(
  { receiptsRoot }: RpcBlock,
  { transactions, receipts }: Pick<BlockContents, 'transactions' | 'receipts'>,
): Promise<Problem | undefined> {
  const given = receipts.filter(receipt => receipt !== null);
  if (given.length < receipts.length) return unproven('receipts are missing');
  const haveRoot = async (bloomIn: (receipt: RpcReceipt) => Uint8Array) => {
    const encode = (receipt: RpcReceipt, at: number) =>
      encodedReceipt(transactionType(transactions[at] ?? {}), receipt, bloomIn(receipt));
    return isSame(receiptsRoot, rootOf(await encodings(given, encode)));
  };
  const bloomGiven = ({ logsBloom }: RpcReceipt) => dataBytes(logsBloom);
  const haveBlooms = given.every(({ logsBloom }) => logsBloom?.length === '0x'.length + 2 * BLOOM_BYTES);
  if (!haveBlooms || !(await haveRoot(bloomGiven))) {
    // The root is over the filters too. Computing them costs four hashes per log, and is not needed for honest ones.
    if (!(await haveRoot(({ logs }) => computedBloom(logs))))
      return contradiction('receipts', 'the receipts do not have the root that the header names');
    if (haveBlooms)
      return contradiction('logs bloom', 'the bloom filter of a receipt is not that of its logs');
  }
  if (given.some(({ transactionHash }, at) => transactions[at]?.hash !== transactionHash))
    return contradiction('receipts', 'a receipt names another transaction');
  return areNumbered(given) ? undefined : unproven('the logs are not numbered by their order in the block');
}

/** True when the logs of a block are numbered in their order, from zero. No root says which number a log has. */
function areNumbered(receipts: readonly RpcReceipt[]): boolean {
  let next = 0;
  for (const { logIndex } of receipts.values().flatMap(({ logs }) => logs)) {
    if (Number(logIndex) !== next) return false;
    next += 1;
  }
  return true;
}
