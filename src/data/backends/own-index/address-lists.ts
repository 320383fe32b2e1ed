import { lowerCase } from '#evm/address.ts';
import type { Answers } from '../port/backend.ts';
import { blockRecords, nextBlocks } from './blocks.ts';
import { assertTraces } from './source/find-transaction.ts';
import { blockBefore, blockPositionBefore, tracePosition, transferPosition } from './source/position.ts';
import { assertWhole, type IndexSource, PAGE_SIZE } from './source/source.ts';
import { internalTransactionPage } from './transactions/internal-transactions.ts';
import { transferPage } from './transactions/token-transfers.ts';
import { logPage } from './transactions/transaction-lists.ts';
import { transactionPage } from './transactions/transactions.ts';

/** Activity of one address, newest first. An unused address has empty lists (Decision 38). */
export function addressListAnswers(source: IndexSource) {
  const { reader } = source;
  return {
    async listAddressTransactions({ path, query }, { position }) {
      assertWhole(source);
      const before = blockPositionBefore(position, query);
      const page = await reader.transactions({
        ofAddress: ofAddress(path.address_hash, query.filter),
        limit: PAGE_SIZE,
        before,
      });
      return { body: await transactionPage(source, page) };
    },

    async listAddressTokenTransfers({ path, query }, { position }) {
      assertWhole(source);
      const before = transferPosition(position, query);
      const page = await reader.tokenTransfers({
        ofAddress: ofAddress(path.address_hash, query.filter),
        limit: PAGE_SIZE,
        token: query.token === undefined ? undefined : lowerCase(query.token),
        types: query.type,
        before,
      });
      return { body: await transferPage(source, page) };
    },

    async listAddressLogs({ path, query }, { position }) {
      assertWhole(source);
      const before = blockPositionBefore(position, query);
      const page = await reader.addressLogs({
        address: lowerCase(path.address_hash),
        limit: PAGE_SIZE,
        before,
      });
      return { body: await logPage(source, page) };
    },

    async listAddressInternalTransactions({ path, query }, { position }) {
      assertWhole(source);
      const before = tracePosition(position, query);
      const [page] = await Promise.all([
        reader.addressInternalTransactions({
          address: lowerCase(path.address_hash),
          limit: PAGE_SIZE,
          direction: query.filter,
          before,
        }),
        assertTraces(source),
      ]);
      return { body: await internalTransactionPage(source, page) };
    },

    async listAddressBlocksValidated({ path, query }, { position }) {
      assertWhole(source);
      const before = blockBefore(position, query);
      const { items, hasMore } = await reader.validatedBlocks({
        miner: lowerCase(path.address_hash),
        limit: PAGE_SIZE,
        beforeNumber: before === undefined ? undefined : before.number,
      });
      const last = items.at(-1);
      return {
        body: {
          items: await blockRecords(source, items),
          next_page_params: hasMore && last !== undefined ? nextBlocks(source, last, items.length) : null,
        },
      };
    },
  } satisfies Answers;
}

function ofAddress(address: string, direction: 'from' | 'to' | undefined) {
  return { address: lowerCase(address), ...(direction === undefined ? {} : { direction }) };
}
