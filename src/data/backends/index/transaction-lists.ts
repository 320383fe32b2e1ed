import type { Hash } from 'viem';
import type { Answers } from '../../port/backend.ts';
import { placeBefore } from './position.ts';
import { logRecord } from './records/log.ts';
import { loadParties } from './records/parties.ts';
import { type IndexSource, leadingBack, PAGE_SIZE, pendingIn } from './source.ts';
import { transferPage } from './token-transfers.ts';
import { asHash } from './transactions.ts';

type TransactionListAnswers = Pick<Answers, 'listTransactionTokenTransfers' | 'listTransactionLogs'>;

/** What one transaction did: its token transfers and its logs, in their order. */
export function transactionListAnswers(source: IndexSource): TransactionListAnswers {
  const { reader } = source;
  return {
    async listTransactionTokenTransfers({ path, query }, { position }) {
      const transactionHash = asHash(path.transaction_hash);
      const after = placeBefore(position, query);
      const page = await reader.tokenTransfersOf({
        transactionHash,
        limit: PAGE_SIZE,
        ...(after === undefined ? {} : { after }),
        ...(query.type === undefined ? {} : { types: query.type }),
      });
      return { ...(await settled(source, transactionHash)), body: await transferPage(source, page) };
    },

    async listTransactionLogs({ path, query }, { position }) {
      const transactionHash = asHash(path.transaction_hash);
      const after = placeBefore(position, query);
      const { items, hasMore } = await reader.logs({
        transactionHash,
        limit: PAGE_SIZE,
        ...(after === undefined ? {} : { after }),
      });
      const parties = await loadParties(reader, {
        addresses: items.flatMap(({ address, transactionTo }) => [address, transactionTo]),
      });
      const last = items.at(-1);
      const at = last === undefined ? undefined : { block_number: last.blockNumber, index: last.index };
      return {
        ...(await settled(source, transactionHash)),
        body: {
          items: items.map(row => logRecord(row, reader.abis, parties)),
          next_page_params:
            hasMore && at !== undefined
              ? { ...at, items_count: items.length, ...leadingBack(source, at) }
              : null,
        },
      };
    },
  };
}

/**
 * How deep the transaction lies. One that waits in the pool did nothing yet, which is an answer, too.
 * @throws BackendError when nobody knows the transaction.
 */
async function settled(source: IndexSource, hash: Hash): Promise<{ confirmations?: number }> {
  const [row, head] = await Promise.all([source.reader.transactionByHash(hash), source.reader.head()]);
  if (row !== null)
    return { confirmations: Math.max(0, (head?.number ?? row.blockNumber) - row.blockNumber) };
  await pendingIn(source, hash);
  return {};
}
