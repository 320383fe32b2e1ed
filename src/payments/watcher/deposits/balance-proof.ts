import { BaseError, isHex } from 'viem';
import { lowerCase } from '#evm/address.ts';
import { provenBalance } from '#evm/proofs/account-proof.ts';
import type { Look } from '../look/look.ts';
import type { Header } from '../node/node-view.ts';

/** The balance of an account at the end of a block, as a node named it, and the amount that is to be proven. */
interface NamedBalance {
  readonly address: string;
  readonly end: Header;
  readonly named: bigint;
  readonly least: bigint;
}

/**
 * True when a proof of the account shows that it has at least this amount at the end of a block (EIP-1186). The header of
 * the block is recomputed up to its hash. False when the proof shows less than the balance that a node named. Null when no
 * node proves it, also where nothing is to be proven.
 */
export async function proofOfBalance(
  { chain, view }: Look,
  { address, end, named, least }: NamedBalance,
): Promise<boolean | null> {
  if (chain.prove === 'off') return null;
  const account = lowerCase(address);
  const at = { blockHash: lowerCase(end.hash), requireCanonical: false };
  try {
    return await view.askRaw(async ({ raw }) => {
      const [block, proof] = await Promise.all([
        raw({ method: 'eth_getBlockByHash', params: [at.blockHash, false] }),
        raw({ method: 'eth_getProof', params: [account, [], at] }),
      ]);
      if (block?.hash?.toLowerCase() !== end.hash) return null;
      // A node can answer with anything.
      const path: unknown = proof?.accountProof;
      if (!Array.isArray(path) || !path.every(one => isHex(one))) return null;
      const balance = provenBalance(block, { address: account, path });
      if (balance === undefined) return null;
      if (balance < named) return false;
      return balance >= least ? true : null;
    });
  } catch (error) {
    // Many nodes do not have the method, or not for this block.
    if (error instanceof BaseError) return null;
    throw error;
  }
}
