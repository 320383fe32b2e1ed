import { type Address, bytesToHex, fromRlp, type Hash, type Hex } from 'viem';
import type { BlockContents, Problem } from './block-proof.ts';
import { dataBytes, keccak } from './bytes.ts';
import { encodedHeader, fieldsOfHeader } from './header-encoding.ts';
import { orderedTrie, valueAt } from './ordered-trie.ts';
import { proveBlock } from './prove-block.ts';
import { computedBloom, encodedReceipt } from './receipt-encoding.ts';
import type { RlpItem } from './rlp.ts';
import { encodedTransaction, transactionType } from './transaction-encoding.ts';

/** An entry of a list that the header commits to, with the nodes of the list's trie that lead to it. */
export interface EntryProof {
  /** Encoding of the entry. Source: EIP-2718. */
  readonly encoded: Hex;
  /** Encoded nodes, the root first. A node of less than 32 bytes is in its parent. */
  readonly path: Hex[];
}

/** Proof that a transaction and its receipt are in a block, by the hash of the block. */
export interface InclusionProof {
  /** RLP of the header, whose hash is the hash of the block. */
  readonly header: Hex;
  /** Position in the block, from zero. */
  readonly position: number;
  readonly transaction: EntryProof;
  readonly receipt: EntryProof;
}

/** Facts that a proof shows, if its block is in the chain. */
export interface ProvenInclusion {
  readonly blockHash: Hash;
  readonly blockNumber: bigint;
  /** Time of the block in milliseconds. */
  readonly timeMs: number;
  readonly transactionHash: Hash;
  /** Source: EIP-2718. */
  readonly encodedTransaction: Hex;
  readonly receipt: ProvenReceipt;
}

interface ProvenReceipt {
  /** Null before Byzantium, where the receipt does not say it. */
  readonly isSuccess: boolean | null;
  readonly logs: readonly {
    readonly address: Address;
    readonly topics: readonly Hex[];
    readonly data: Hex;
  }[];
}

/** A proof that proves nothing: text of a part that does not fit. */
export class InvalidProof extends Error {}

/** Creates the proof of the transaction at a position. A problem when the block is not proven. */
export async function inclusionProof(
  contents: BlockContents,
  position: number,
): Promise<InclusionProof | Problem> {
  const { block, transactions, receipts } = contents;
  const proof = await proveBlock(contents);
  if (proof.kind !== 'proven') return proof;
  const encodedReceipts = receipts.flatMap((receipt, at) => {
    if (receipt === null) return [];
    const { logs, logsBloom } = receipt;
    const bloom = logsBloom === null || logsBloom === undefined ? computedBloom(logs) : dataBytes(logsBloom);
    return [encodedReceipt(transactionType(transactions[at] ?? {}), receipt, bloom)];
  });
  const encodedTransactions = transactions.map(encodedTransaction).filter(one => one !== undefined);
  return {
    header: bytesToHex(encodedHeader(block)),
    position,
    transaction: entryProof(encodedTransactions, position),
    receipt: entryProof(encodedReceipts, position),
  };
}

function entryProof(entries: readonly Uint8Array[], position: number): EntryProof {
  const encoded = entries[position];
  if (encoded === undefined) throw new RangeError(`The block has no transaction at ${position}.`);
  return {
    encoded: bytesToHex(encoded),
    path: orderedTrie(entries)
      .pathTo(position)
      .map(node => bytesToHex(node)),
  };
}

/**
 * Checks a proof and returns what it shows. Nothing is known yet about the block: the caller compares its hash with one
 * that is known to be in the chain.
 * @throws InvalidProof when a part does not fit
 */
export function checkedInclusion({
  header,
  position,
  transaction,
  receipt,
}: InclusionProof): ProvenInclusion {
  const encodedHeader = dataBytes(header);
  const { number, timestamp, transactionsRoot, receiptsRoot } = decoded('header', () =>
    fieldsOfHeader(encodedHeader),
  );
  const transactionBytes = checkedEntry(transactionsRoot, {
    position,
    entry: transaction,
    name: 'transaction',
  });
  const receiptBytes = checkedEntry(receiptsRoot, { position, entry: receipt, name: 'receipt' });
  return {
    blockHash: bytesToHex(keccak(encodedHeader)),
    blockNumber: number,
    timeMs: Number(timestamp) * 1000,
    transactionHash: bytesToHex(keccak(transactionBytes)),
    encodedTransaction: transaction.encoded,
    receipt: decoded('receipt', () => receiptOf(receiptBytes)),
  };
}

function checkedEntry(
  root: Uint8Array,
  { position, entry, name }: { position: number; entry: EntryProof; name: string },
): Uint8Array {
  const encoded = dataBytes(entry.encoded);
  const path = entry.path.map(dataBytes);
  const value = decoded(`${name} path`, () => valueAt(root, { position, path }));
  if (value === undefined || Buffer.compare(value, encoded) !== 0)
    throw new InvalidProof(`The path of the ${name} does not lead from the root in the header to it.`);
  return encoded;
}

/** Status and logs of an encoded receipt. */
function receiptOf(encoded: Uint8Array): ProvenReceipt {
  const [type = 0] = encoded;
  const isTyped = type < 0x80;
  const [status, , , logs] = list(fromRlp(isTyped ? encoded.subarray(1) : encoded, 'bytes'));
  const outcome = bytes(status);
  return {
    isSuccess: outcome.length > 1 ? null : outcome.length === 1,
    logs: list(logs).map(log => {
      const [address, topics, data] = list(log);
      return {
        address: bytesToHex(bytes(address)),
        topics: list(topics).map(topic => bytesToHex(bytes(topic))),
        data: bytesToHex(bytes(data)),
      };
    }),
  };
}

function list(item: RlpItem | undefined): readonly RlpItem[] {
  if (item === undefined || item instanceof Uint8Array) throw new TypeError('a list is missing');
  return item;
}

function bytes(item: RlpItem | undefined): Uint8Array {
  if (!(item instanceof Uint8Array)) throw new TypeError('a value is missing');
  return item;
}

/** Result of a function that decodes. @throws InvalidProof when it fails */
function decoded<Result>(name: string, decode: () => Result): Result {
  try {
    return decode();
  } catch (cause) {
    throw new InvalidProof(`The ${name} cannot be decoded.`, { cause });
  }
}
