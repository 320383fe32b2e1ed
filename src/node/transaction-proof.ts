import { isHash } from 'viem';
import { type ProofFile, proofFile } from '../evm/proofs/proof-file.ts';
import { Unavailable } from '../lib/unavailable.ts';
import { givenContents } from './block-contents.ts';
import type { ChainClient } from './client.ts';

/** A transaction in a block of a chain. */
interface MinedTransaction {
  readonly chainId: number;
  readonly hash: string;
  readonly blockNumber: number;
  readonly blockHash: string;
}

/**
 * Reads the block of a transaction from a node of its chain, and proves the transaction. A reason where there is no proof.
 * @throws Unavailable when no node answers
 */
export type ReadProof = (transaction: MinedTransaction) => Promise<ProofFile | { readonly reason: string }>;

export function proofReader(clientOf: (chainId: number) => ChainClient | undefined): ReadProof {
  return async ({ chainId, hash, blockNumber, blockHash }) => {
    const client = clientOf(chainId);
    if (client === undefined) return { reason: `chain ${chainId} is not configured` };
    if (!isHash(hash) || !isHash(blockHash)) return { reason: 'it has no place on a chain' };
    const contents = await givenContents(client, { number: blockNumber, hash: blockHash }).catch(unavailable);
    if (contents === null) return { reason: `the node does not give block ${blockNumber}` };
    const proof = await proofFile(contents, { chainId, hash });
    if (!('kind' in proof)) return proof;
    const { kind, reason } = proof;
    return kind === 'contradiction'
      ? { reason: `the node contradicts the hash of the block: ${reason}` }
      : { reason };
  };
}

function unavailable(cause: unknown): never {
  throw new Unavailable('No node of the chain answers now', cause);
}
