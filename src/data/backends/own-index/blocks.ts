import type { Hash } from 'viem';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { lowerCase } from '#evm/address.ts';
import type { BlockRow } from '#indexer/read/blocks/blocks.ts';
import type { Page } from '#indexer/read/page.ts';
import { inTime } from '#lib/in-time.ts';
import type { Answers } from '../port/backend.ts';
import { amount, microsecondTimestamp, percentage } from './parts/format.ts';
import { loadParties, type Parties } from './parts/parties.ts';
import { assertCallsOfBlock } from './source/find-transaction.ts';
import { blockBefore, blockPositionBefore, callAfter } from './source/position.ts';
import {
  assertCaughtUp,
  assertNotCutOff,
  confirmationsAt,
  cursorFields,
  type IndexSource,
  missingFrom,
  notReadYet,
  PAGE_SIZE,
} from './source/source.ts';
import { internalTransactionPage } from './transactions/internal-transactions.ts';
import { transactionPage } from './transactions/transactions.ts';

const MAIN_PAGE_BLOCKS = 4;

/** Blocks of one chain, from its index. */
export function blockAnswers(source: IndexSource) {
  const { reader } = source;
  return {
    async listBlocks({ query }, { position }) {
      assertCaughtUp(source);
      const before = blockBefore(position, query);
      const { items, hasMore } = await reader.blocks({
        kind: query.type ?? 'block',
        limit: PAGE_SIZE,
        before,
      });
      // Every index has only those orphaned blocks that it saw.
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
      return { ...depthOf(source, row), body: record };
    },

    async listBlockTransactions({ path, query }, { position }) {
      const before = blockPositionBefore(position, query);
      const { row, page } = await blockWith(source, path.block_number_or_hash, blockNumber =>
        reader.transactions({ blockNumber, limit: PAGE_SIZE, before }),
      );
      return { ...depthOf(source, row), body: await transactionPage(source, page) };
    },

    async listBlockInternalTransactions({ path, query }, { position }) {
      const after = callAfter(position, query);
      const { row, page } = await blockWith(source, path.block_number_or_hash, blockNumber =>
        reader.blockInternalTransactions({
          blockNumber,
          limit: PAGE_SIZE,
          after,
        }),
      );
      await assertCallsOfBlock(source, row);
      return { ...depthOf(source, row), body: await internalTransactionPage(source, page) };
    },
  } satisfies Answers;
}

/**
 * Reads a block and a page of its contents. An orphaned block has an empty page, because its contents are in other
 * blocks or in none. Both are read in parallel when the path has the number of an indexed block.
 * @throws BackendError when the block is unknown
 */
export async function blockWith<Item>(
  source: IndexSource,
  numberOrHash: string,
  pageOf: (blockNumber: number) => Promise<Page<Item>>,
): Promise<{ row: BlockRow; page: Page<Item> }> {
  const id = idOf(numberOrHash);
  if (typeof id === 'number' && id <= (source.status().head ?? -1)) {
    const [row, page] = await Promise.all([findBlock(source, numberOrHash), pageOf(id)]);
    return { row, page };
  }
  const row = await findBlock(source, numberOrHash);
  return { row, page: row.isCanonical ? await pageOf(row.number) : { items: [], hasMore: false } };
}

function idOf(numberOrHash: string): number | Hash {
  return numberOrHash.startsWith('0x') ? lowerCase(numberOrHash) : Number(numberOrHash);
}

/** @throws BackendError when the block is unknown, or only the node has it. */
async function findBlock(source: IndexSource, numberOrHash: string): Promise<BlockRow> {
  return (await source.reader.blockByNumberOrHash(idOf(numberOrHash))) ?? newBlock(source, numberOrHash);
}

/** Maximum wait for the node to report a block that is not in the index, in milliseconds. */
const NODE_WITHIN_MS = 2_000;

/**
 * Waits for a block that the node has already mined (Decision 160).
 * @throws BackendError when the block is unknown, or when the index has not read it in time
 */
async function newBlock(source: IndexSource, numberOrHash: string): Promise<BlockRow> {
  const { reader } = source;
  const id = idOf(numberOrHash);
  const blockNumber = typeof id === 'number' ? id : 0;
  const what = `Block ${numberOrHash}`;
  if (!source.hasCaughtUp()) throw missingFrom(source, what, { blockNumber });
  const onNode = await numberOnNode(source, id);
  if (onNode === undefined || onNode === null || onNode < source.firstBlock())
    throw missingFrom(source, what, {
      blockNumber: onNode ?? blockNumber,
      isUnknownToNode: onNode === null,
    });
  const arrived = await source.untilFound(() => reader.blockByNumberOrHash(id));
  if (arrived === null)
    throw notReadYet(source, { message: `the index has not read block ${numberOrHash} yet` });
  return arrived;
}

/** Depth of a block. An orphaned block has none, because it can become canonical again. */
export function depthOf(source: IndexSource, row: BlockRow): { confirmations?: number } {
  return row.isCanonical ? { confirmations: confirmationsAt(source, row.number) } : {};
}

/** Number of a block of the node's chain. Null when the node has no such block, undefined when it does not say. */
async function numberOnNode(source: IndexSource, id: number | Hash): Promise<number | null | undefined> {
  if (typeof id === 'number' && id <= (source.status().nodeHead ?? -1)) return id;
  return inTime(source.reader.node.blockNumber(id), NODE_WITHIN_MS).catch(() => undefined);
}

/** Records of blocks, for every list of blocks. */
export async function blockRecords(source: IndexSource, rows: readonly BlockRow[]) {
  const parties = await loadParties(source, { addresses: rows.map(({ miner }) => miner) });
  return rows.map(row => blockRecord(row, parties));
}

/** `next_page_params` of every list of blocks. */
export function nextBlocks(source: IndexSource, last: BlockRow, itemsCount: number) {
  const position = last.isCanonical
    ? { block_number: last.number }
    : { block_number: last.number, block_hash: last.hash };
  return { block_number: last.number, items_count: itemsCount, ...cursorFields(source, position) };
}

type Block = ExplorerSchemas['Block'];

/** Gas limit divided by gas target (EIP-1559, elasticity multiplier). */
const ELASTICITY = 2n;
/** Header nonce since the merge (EIP-3675), which some rollups omit. */
const NO_NONCE = '0x0000000000000000';

/** Record of one block with its fee totals. Percentages have four decimals. */
function blockRecord(row: BlockRow, parties: Parties): Block {
  const target = row.gasLimit / ELASTICITY;
  const hasBaseFee = row.baseFeePerGas !== null;
  return {
    base_fee_per_gas: amount(row.baseFeePerGas),
    block_access_list_hash: row.blockAccessListHash,
    burnt_fees: amount(row.burntFees),
    burnt_fees_percentage:
      row.burntFees === null || row.transactionFees === null
        ? null
        : percentage(row.burntFees, row.transactionFees),
    difficulty: row.difficulty.toString(),
    extra_data: row.extraData,
    gas_limit: row.gasLimit.toString(),
    gas_target_percentage: hasBaseFee ? percentage(row.gasUsed - target, target) : null,
    gas_used: row.gasUsed.toString(),
    gas_used_percentage: percentage(row.gasUsed, row.gasLimit),
    hash: row.hash,
    height: row.number,
    miner: parties.address(row.miner),
    nonce: row.nonce ?? NO_NONCE,
    parent_hash: row.parentHash,
    priority_fee: hasBaseFee ? amount(row.priorityFees) : null,
    proven: row.isCanonical ? row.isProven : null,
    rewards: rewardsOf(row),
    size: row.size,
    slot_number: row.slotNumber,
    state_root: row.stateRoot,
    timestamp: microsecondTimestamp(row.timestamp),
    total_difficulty: amount(row.totalDifficulty),
    transaction_count: row.transactionCount,
    transaction_fees: amount(row.transactionFees),
    type: row.isCanonical ? 'block' : 'reorg',
    uncles_hashes: row.unclesHashes,
    withdrawals_count: row.withdrawalsCount,
  };
}

/**
 * Rewards of a block (Decision 22). After the merge the miner earns the priority fees. Earlier issuance is not in the
 * block. None are known while a receipt is missing.
 */
function rewardsOf({ number, difficulty, priorityFees }: BlockRow): Block['rewards'] {
  const isPaid = number > 0 && difficulty === 0n && priorityFees !== null;
  return isPaid ? [{ reward: priorityFees, type: 'Miner Reward' }] : [];
}
