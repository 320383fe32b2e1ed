import { lowerCase } from '#evm/address.ts';
import type { BlockRow } from '#indexer/read/blocks/blocks.ts';
import type { Answers } from '../port/backend.ts';
import { loadParties } from './parts/parties.ts';
import { blockRecord } from './records/block.ts';
import { blockBefore, placeBefore } from './source/position.ts';
import {
  assertCaughtUp,
  assertNotCutOff,
  cursorFields,
  type IndexSource,
  missingFrom,
  PAGE_SIZE,
} from './source/source.ts';
import { nextTransactions, transactionRecords } from './transactions/transactions.ts';

const MAIN_PAGE_BLOCKS = 4;

type BlockAnswers = Pick<Answers, 'listBlocks' | 'listMainPageBlocks' | 'getBlock' | 'listBlockTransactions'>;

/** Blocks of one chain, from its index. */
export function blockAnswers(source: IndexSource): BlockAnswers {
  const { reader } = source;
  return {
    async listBlocks({ query }, { position }) {
      assertCaughtUp(source);
      const before = blockBefore(position, query);
      const { items, hasMore } = await reader.blocks({
        kind: query.type ?? 'block',
        limit: PAGE_SIZE,
        ...(before === undefined ? {} : { before }),
      });
      // Of blocks that lost their place every index has only those that it saw.
      if (query.type === undefined || query.type === 'block') assertNotCutOff(source, { hasMore });
      const last = items.at(-1);
      return {
        body: {
          items: await blockRecords(source, items),
          next_page_params: hasMore && last !== undefined ? nextBlocks(source, last, items.length) : null,
        },
      };
    },

    async listMainPageBlocks() {
      assertCaughtUp(source);
      const { items } = await reader.blocks({ kind: 'block', limit: MAIN_PAGE_BLOCKS });
      assertNotCutOff(source, { hasMore: items.length === MAIN_PAGE_BLOCKS });
      return { body: await blockRecords(source, items) };
    },

    async getBlock({ path }) {
      const row = await findBlock(source, path.block_number_or_hash);
      const [record] = await blockRecords(source, [row]);
      if (record === undefined) throw missingFrom(source, `Block ${path.block_number_or_hash}`);
      return { ...(await depthOf(source, row)), body: record };
    },

    async listBlockTransactions({ path, query }, { position }) {
      const row = await findBlock(source, path.block_number_or_hash);
      const before = placeBefore(position, query);
      // An orphaned block's transactions are in other blocks now, or in none.
      const { items, hasMore } = row.isCanonical
        ? await reader.transactions({
            blockNumber: row.number,
            limit: PAGE_SIZE,
            ...(before === undefined ? {} : { before }),
          })
        : { items: [], hasMore: false };
      const last = items.at(-1);
      return {
        ...(await depthOf(source, row)),
        body: {
          items: await transactionRecords(source, items),
          next_page_params:
            hasMore && last !== undefined ? nextTransactions(source, last, items.length) : null,
        },
      };
    },
  };
}

/** @throws BackendError when nobody knows the block. */
export async function findBlock(source: IndexSource, numberOrHash: string): Promise<BlockRow> {
  const id = numberOrHash.startsWith('0x') ? lowerCase(numberOrHash) : Number(numberOrHash);
  const row = await source.reader.blockByNumberOrHash(id);
  if (row === null)
    throw missingFrom(source, `Block ${numberOrHash}`, typeof id === 'number' ? id : undefined);
  return row;
}

/** An orphaned block can come back, so it never counts as settled. */
export async function depthOf({ reader }: IndexSource, row: BlockRow): Promise<{ confirmations?: number }> {
  const head = await reader.head();
  return row.isCanonical && head !== null ? { confirmations: Math.max(0, head.number - row.number) } : {};
}

/** Records of blocks, wherever they were asked for. */
export async function blockRecords({ reader }: IndexSource, rows: readonly BlockRow[]) {
  const parties = await loadParties(reader, { addresses: rows.map(({ miner }) => miner) });
  return rows.map(row => blockRecord(row, parties));
}

/** `next_page_params` of every list of blocks. */
export function nextBlocks(source: IndexSource, last: BlockRow, itemsCount: number) {
  const position = last.isCanonical
    ? { block_number: last.number }
    : { block_number: last.number, block_hash: last.hash };
  return { block_number: last.number, items_count: itemsCount, ...cursorFields(source, position) };
}
