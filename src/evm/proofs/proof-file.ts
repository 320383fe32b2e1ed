import type { Hash } from 'viem';
import { type BlockContents, contradiction, type Problem } from './block-proof.ts';
import {
  checkedInclusion,
  type EntryProof,
  InvalidProof,
  inclusionProof,
  type ProvenInclusion,
} from './inclusion.ts';

/** Form in which both products send the proof of a transaction, and in which `tollgate verify-proof` reads it. */
export interface ProofFile {
  readonly chain_id: number;
  readonly block_hash: Hash;
  readonly block_number: number;
  readonly transaction_hash: Hash;
  readonly transaction_index: number;
  readonly header: `0x${string}`;
  readonly transaction: EntryProof;
  readonly receipt: EntryProof;
}

/** Proof of a transaction of a block of a chain; a problem when the block is not proven. */
export async function proofFile(
  contents: BlockContents,
  { chainId, hash }: { chainId: number; hash: Hash },
): Promise<ProofFile | Problem> {
  const position = contents.transactions.findIndex(one => one.hash === hash);
  if (position < 0) return contradiction('transactions', 'the block does not list the transaction');
  const proof = await inclusionProof(contents, position);
  if ('kind' in proof) return proof;
  const { blockHash, blockNumber } = checkedInclusion(proof);
  const { header, transaction, receipt } = proof;
  return {
    chain_id: chainId,
    block_hash: blockHash,
    block_number: Number(blockNumber),
    transaction_hash: hash,
    transaction_index: position,
    header,
    transaction,
    receipt,
  };
}

/**
 * Reads and checks a proof from parsed JSON. Its block is that of its header, whatever the file names.
 * @throws InvalidProof when a part is missing, does not fit, or is named wrongly
 */
export function checkedProofFile(file: unknown): ProvenInclusion & { readonly chainId: number } {
  const proof = {
    header: textIn(file, 'header'),
    position: numberIn(file, 'transaction_index'),
    transaction: entryIn(file, 'transaction'),
    receipt: entryIn(file, 'receipt'),
  };
  const inclusion = checkedInclusion(proof);
  const { blockHash, blockNumber, transactionHash } = inclusion;
  const named = { block_hash: blockHash, transaction_hash: transactionHash };
  for (const [name, hash] of Object.entries(named))
    if (textIn(file, name).toLowerCase() !== hash) throw new InvalidProof(`${name} is not ${hash}.`);
  if (BigInt(numberIn(file, 'block_number')) !== blockNumber)
    throw new InvalidProof(`block_number is not ${blockNumber}.`);
  return { ...inclusion, chainId: numberIn(file, 'chain_id') };
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) throw new InvalidProof(`${name} is missing.`);
  return new Map<string, unknown>(Object.entries(value)).get(name);
}

function textIn(value: unknown, name: string): `0x${string}` {
  const text = memberOf(value, name);
  if (typeof text !== 'string' || !isHex(text))
    throw new InvalidProof(`${name} must be 0x and hexadecimal digits.`);
  return text;
}

function numberIn(value: unknown, name: string): number {
  const number = memberOf(value, name);
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 0)
    throw new InvalidProof(`${name} must be an integer.`);
  return number;
}

function entryIn(value: unknown, name: string): EntryProof {
  const entry = memberOf(value, name);
  const path = memberOf(entry, 'path');
  if (!Array.isArray(path) || !path.every(node => typeof node === 'string' && isHex(node)))
    throw new InvalidProof(`The path of the ${name} must be a list of hexadecimal texts.`);
  return { encoded: textIn(entry, 'encoded'), path };
}

function isHex(text: string): text is `0x${string}` {
  return /^0x([0-9a-f]{2})*$/i.test(text);
}
