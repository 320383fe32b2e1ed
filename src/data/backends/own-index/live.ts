import { lowerCase } from '#evm/address.ts';
import type { ChainIndex } from '#indexer/index-service.ts';
import { MinedMeanwhile } from '#node/pending-transactions.ts';
import type { LiveSource } from '../port/live-source.ts';

/** Pause between two looks when no change of the index is announced: the announcement may be lost. */
const POLL_MS = 1_000;
/** Most blocks, and orphaned blocks, of one read. */
const MAX_BLOCKS = 1_500;

/** Reads of an index for streams of live events. A commit announces itself, in this and in other processes. */
export function liveIndex({
  reader,
  nextChange,
  status,
}: Pick<ChainIndex, 'reader' | 'nextChange' | 'status'>): LiveSource {
  return {
    isExact: true,
    pollMs: POLL_MS,
    nextChange,
    head: async () => (await reader.head()) ?? undefined,
    blocks: range => reader.blockMarks({ ...range, limit: MAX_BLOCKS }),
    activity: query => reader.activity(query),
    orphans: range => reader.orphanedMarks({ ...range, limit: MAX_BLOCKS }),
    async inclusion(transactionHash) {
      const hash = lowerCase(transactionHash);
      const row = await reader.transactionByHash(hash);
      if (row !== null) return { blockNumber: row.blockNumber };
      try {
        return (await reader.pendingTransaction(hash)) === null ? undefined : 'pending';
      } catch (error) {
        if (!(error instanceof MinedMeanwhile)) throw error;
        // The index reads its block next, unless the block is before its first one.
        return error.blockNumber < status().firstBlock ? undefined : 'pending';
      }
    },
  };
}
