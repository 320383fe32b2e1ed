import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { lowerCase } from '#evm/address.ts';
import type { InternalTransactionRow } from '#indexer/read/blocks/internal-transactions.ts';
import type { Page } from '#indexer/read/page.ts';
import type { Answers } from '../../port/backend.ts';
import { microsecondTimestamp } from '../parts/format.ts';
import { loadParties, type Parties } from '../parts/parties.ts';
import { assertCalls, assertTraces, minedOrPending } from '../source/find-transaction.ts';
import { tracePosition } from '../source/position.ts';
import {
  assertCaughtUp,
  assertNotCutOff,
  cursorFields,
  type IndexSource,
  PAGE_SIZE,
} from '../source/source.ts';

/** Calls, creations and self-destructions inside transactions, from a node that traces. */
export function internalTransactionAnswers(source: IndexSource) {
  const { reader } = source;
  return {
    async listInternalTransactions({ query }, { position }) {
      assertCaughtUp(source);
      const before = tracePosition(position, query);
      const [page] = await Promise.all([
        reader.internalTransactions({ limit: PAGE_SIZE, before }),
        assertTraces(source),
      ]);
      assertNotCutOff(source, page);
      return { body: await internalTransactionPage(source, page) };
    },

    async listTransactionInternalTransactions({ path, query }, { position }) {
      const hash = lowerCase(path.transaction_hash);
      const after = tracePosition(position, query);
      const mined = await minedOrPending(source, hash);
      if (mined === undefined) return { body: { items: [], next_page_params: null } };
      await assertCalls(source, mined);
      const page = await reader.internalTransactionsOf({
        transactionHash: hash,
        limit: PAGE_SIZE,
        afterIndex: after === undefined ? undefined : after.traceIndex,
      });
      return { confirmations: mined.confirmations, body: await internalTransactionPage(source, page) };
    },
  } satisfies Answers;
}

/** Page of internal transactions, for every list of them. */
export async function internalTransactionPage(
  source: IndexSource,
  { items, hasMore }: Page<InternalTransactionRow>,
): Promise<ExplorerSchemas['InternalTransactionsPage']> {
  const parties = await loadParties(source, {
    addresses: items.flatMap(({ from, to, createdContract }) => [from, to, createdContract]),
  });
  const last = items.at(-1);
  const next = last === undefined || !hasMore ? null : nextPage(source, last, items.length);
  return { items: items.map(row => internalTransaction(row, parties)), next_page_params: next };
}

function nextPage(source: IndexSource, last: InternalTransactionRow, itemsCount: number) {
  const position = {
    block_number: last.blockNumber,
    transaction_index: last.transactionIndex,
    index: last.traceIndex,
  };
  return { ...position, items_count: itemsCount, ...cursorFields(source, position) };
}

/** Record of one internal transaction. The beneficiary of a self-destruction is not called, so `to` is null. */
function internalTransaction(
  row: InternalTransactionRow,
  parties: Parties,
): ExplorerSchemas['InternalTransaction'] {
  return {
    block_number: row.blockNumber,
    created_contract: parties.addressOrNull(row.createdContract),
    error: row.error,
    from: parties.address(row.from),
    gas_limit: row.gasLimit?.toString() ?? null,
    index: row.traceIndex,
    success: row.error === null,
    timestamp: microsecondTimestamp(row.timestamp),
    to: row.type === 'selfdestruct' ? null : parties.addressOrNull(row.to),
    transaction_hash: row.transactionHash,
    type: row.type,
    value: row.value.toString(),
  };
}
