import { lowerCase } from '#evm/address.ts';
import { proofFile } from '#evm/proofs/proof-file.ts';
import type { Answers } from '../../port/backend.ts';
import { BackendError, notFound } from '../../port/backend-error.ts';
import { minedOrPending, nodeCannot } from '../source/find-transaction.ts';
import type { IndexSource } from '../source/source.ts';

/** Proof of one transaction. Its block is read from the node at the time of the request (Decision 390). */
export function transactionProofAnswers(source: IndexSource) {
  return {
    async getTransactionProof({ path }) {
      const hash = lowerCase(path.transaction_hash);
      const mined = await minedOrPending(source, hash);
      if (mined === undefined) throw notFound(`A block of transaction ${hash}`);
      const { blockNumber, blockHash } = mined.row;
      const contents = await source.reader.node.contents({ number: blockNumber, hash: blockHash });
      if (contents === null) throw nodeCannot(`give block ${blockNumber}`);
      const proof = await proofFile(contents, { chainId: source.chainId, hash });
      if (!('kind' in proof)) return { confirmations: mined.confirmations, body: proof };
      const { kind, reason } = proof;
      if (kind !== 'contradiction') throw nodeCannot(`prove this block: ${reason}`);
      const message = `the node contradicts the hash of the block: ${reason}`;
      throw new BackendError('unavailable', 'unreadable', message);
    },
  } satisfies Answers;
}
