import { type Address, BaseError, bytesToBigInt, fromRlp, type Hex } from 'viem';
import type { RpcBlock } from '../rpc.ts';
import { dataBytes, keccak, MalformedValue } from './bytes.ts';
import { valueOfKey } from './ordered-trie.ts';
import { headerProblem } from './prove-block.ts';
import type { RlpItem } from './rlp.ts';

/** Coins of an account, and the nodes of the state's trie that lead to it, the root first. Source: EIP-1186. */
export interface AccountProof {
  readonly address: Address;
  readonly path: readonly Hex[];
}

/** Longest path and node that are read: a key has 64 half bytes, and a branch refers to 16 hashes. */
const LONGEST_PATH = 65;
const LONGEST_NODE = '0x'.length + 2 * 1_024;
/** Position of the balance in an account. Source: yellow paper, section 4.1. */
const BALANCE = 1;

/**
 * Coins of an account at the end of a block, if the header has the hash of the block and the path leads from its state root
 * to the account, or shows that it does not exist. Undefined when that is not shown. Nothing is known yet about the
 * block: the caller compares its hash with one that is known to be in the chain.
 */
export function provenBalance(block: RpcBlock, { address, path }: AccountProof): bigint | undefined {
  if (path.length > LONGEST_PATH || path.some(({ length }) => length > LONGEST_NODE)) return undefined;
  try {
    if (headerProblem(block) !== undefined) return undefined;
    const key = keccak(dataBytes(address));
    const encoded = valueOfKey(dataBytes(block.stateRoot), { key, path: path.map(dataBytes) });
    if (encoded === null) return 0n;
    return encoded === undefined ? undefined : balanceIn(fromRlp(encoded, 'bytes'));
  } catch (error) {
    if (error instanceof MalformedValue || error instanceof BaseError) return undefined;
    throw error;
  }
}

function balanceIn(account: RlpItem): bigint | undefined {
  const balance = account instanceof Uint8Array ? undefined : account[BALANCE];
  return balance instanceof Uint8Array ? integerOf(balance) : undefined;
}

/** Zero is encoded as no bytes. */
function integerOf(encoded: Uint8Array): bigint {
  return encoded.length === 0 ? 0n : bytesToBigInt(encoded);
}
