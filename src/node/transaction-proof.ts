import { isHash } from 'viem';
import type { BlockContents } from '../evm/proofs/block-proof.ts';
import { type ProofFile, proofFile } from '../evm/proofs/proof-file.ts';
import { Unavailable } from '../lib/unavailable.ts';
import { blockContents } from './block-contents.ts';
import { ChainMoved } from './block-ref.ts';
import { type ChainClient, nullIfNotGiven } from './client.ts';

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
    const contents = await contentsOf(client, { number: blockNumber, hash: blockHash });
    if (contents === null || !isHash(hash)) return { reason: `the node does not give block ${blockNumber}` };
    const proof = await proofFile(contents, { chainId, hash });
    if (!('kind' in proof)) return proof;
    const { kind, reason } = proof;
    return kind === 'contradiction'
      ? { reason: `the node contradicts the hash of the block: ${reason}` }
      : { reason };
  };
}

async function contentsOf(
  client: ChainClient,
  { number, hash }: { number: number; hash: string },
): Promise<BlockContents | null> {
  if (!isHash(hash)) return null;
  try {
    await client.verify();
    return await blockContents(client.request, { number, hash }).catch((error: unknown) =>
      error instanceof ChainMoved ? null : nullIfNotGiven(error),
    );
  } catch (cause) {
    throw new Unavailable('No node of the chain answers now', cause);
  }
}
