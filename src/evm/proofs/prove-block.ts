import { ZERO_ADDRESS } from '../address.ts';
import type { RpcBlock, RpcReceipt, RpcTransaction } from '../rpc.ts';
import {
  type BlockContents,
  type BlockProof,
  contradiction,
  encodings,
  otherHash,
  type Problem,
  unproven,
} from './block-proof.ts';
import { dataBytes, EMPTY, isHashOf, isSame, MalformedValue, quantityBytes } from './bytes.ts';
import { encodedHeader, missingFields, unknownFields } from './header-encoding.ts';
import { rootOf } from './ordered-trie.ts';
import { BLOOM_BYTES, computedBloom, encodedReceipt } from './receipt-encoding.ts';
import { rlp } from './rlp.ts';
import {
  BLOBS,
  encodedTransaction,
  hasKnownType,
  isOfChainItself,
  OP_DEPOSIT,
  transactionType,
} from './transaction-encoding.ts';

/**
 * Recomputes the hash of a block, and the roots in its header, from what a node sent. It pauses in large blocks, because
 * a thousand logs take about 10 ms.
 *
 * The hash commits to the header, to the encodings of transactions and withdrawals, and to status, cumulative gas, bloom
 * filter and logs of each receipt. It commits to the sender of a transaction only by its signature, and not at all to
 * other fields of receipts and to traces.
 */
export function proveBlock(contents: BlockContents): Promise<BlockProof> {
  return proofOf(contents, contentsProblem);
}

/** Recomputes only the hash of a block and the root of its transactions. */
export function proveBody(body: Omit<BlockContents, 'receipts'>): Promise<BlockProof> {
  return proofOf({ ...body, receipts: [] }, ({ block, transactions }) =>
    transactionsProblem(block, transactions),
  );
}

/** Proof of a block by the first problem of its header or its contents. A malformed value is one too. */
async function proofOf(
  contents: BlockContents,
  problemOf: (contents: BlockContents) => Promise<Problem | undefined>,
): Promise<BlockProof> {
  const { block, transactions, receipts } = contents;
  try {
    const problem = headerProblem(block) ?? (await problemOf(contents));
    if (problem?.kind !== 'contradiction' || !isOutsideOfRoots(transactions.at(-1)))
      return problem ?? { kind: 'proven' };
    const listed = { block, transactions: transactions.slice(0, -1), receipts: receipts.slice(0, -1) };
    return (await problemOf(listed)) ?? unproven('the last transaction is in no root of the header');
  } catch (error) {
    if (error instanceof MalformedValue) return otherHash(error.message);
    throw error;
  }
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

/** Problem of the header alone; undefined when its fields have the hash of the block. */
export function headerProblem(block: RpcBlock): Problem | undefined {
  const missing = missingFields(block);
  if (missing.length > 0) return otherHash(`the header lacks ${missing.join(', ')}`);
  if (isHashOf(block.hash, encodedHeader(block))) return undefined;
  const unknown = unknownFields(block);
  return otherHash(
    unknown.length > 0
      ? `the header has unknown fields: ${unknown.join(', ')}`
      : 'the fields of the header do not have the hash of the block',
  );
}

function withdrawalsProblem(
  { withdrawalsRoot, withdrawals }: RpcBlock,
  [first]: readonly RpcTransaction[],
): Problem | undefined {
  const hasRoot = withdrawalsRoot !== null && withdrawalsRoot !== undefined;
  // An OP-stack chain has no withdrawals, and uses the field for another root. Source: specs.optimism.io, "Isthmus".
  const isRollup = first !== undefined && transactionType(first) === OP_DEPOSIT;
  if (!hasRoot || isRollup)
    return (withdrawals ?? []).length === 0
      ? undefined
      : contradiction('withdrawals', 'the header has no root of withdrawals');
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
    if (!(await haveRoot(({ logs }) => computedBloom(logs)))) {
      const unknown = transactions.filter(one => !hasKnownType(one));
      return unknown.length === 0
        ? contradiction('receipts', 'the receipts do not have the root that the header names')
        : otherHash(`receipts of transactions of type ${typesOf(unknown)} may be encoded otherwise`);
    }
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

/** Compares the transactions of a block, and their hashes, with the root in its header. */
async function transactionsProblem(
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
