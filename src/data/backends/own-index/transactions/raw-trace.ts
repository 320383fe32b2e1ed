import { lowerCase } from '#evm/address.ts';
import type { Answers } from '../../port/backend.ts';
import { rawTrace } from '../../port/raw-trace.ts';
import { minedOrPending, nodeCannot } from '../source/mined.ts';
import type { IndexSource } from '../source/source.ts';

/** The trace of one transaction, from the node at the time of the request. */
export function rawTraceAnswers(source: IndexSource): Pick<Answers, 'getTransactionRawTrace'> {
  return {
    async getTransactionRawTrace({ path }, { signal }) {
      const hash = lowerCase(path.transaction_hash);
      const mined = await minedOrPending(source, hash);
      if (mined === undefined) return { body: [] };
      const items = await source.reader.node.trace(hash, signal);
      if (items === null) throw nodeCannot('trace this transaction');
      // The node may be on another branch than the index by now; then nothing says how deep this lies.
      const isSameBlock = items.every(
        ({ blockHash = mined.row.blockHash }) => blockHash === mined.row.blockHash,
      );
      return {
        ...(isSameBlock ? { confirmations: mined.confirmations } : {}),
        body: items.map(item => rawTrace(item, hash)),
      };
    },
  };
}
