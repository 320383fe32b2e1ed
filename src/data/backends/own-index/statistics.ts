import { formatEther, formatGwei } from 'viem';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { BlockLoad } from '#indexer/read/statistics.ts';
import { DAY_MS } from '#lib/clock.ts';
import type { Answer, Answers } from '../port/backend.ts';
import { BackendError } from '../port/backend-error.ts';
import { dateText, dayOf, microsecondTimestamp, percentage } from './parts/format.ts';
import { assertCaughtUp, assertWhole, type IndexSource, isAtHead } from './source/source.ts';

/** Number of recent blocks for block time, load and gas prices. */
const RECENT_BLOCKS = 100;
/** Maximum number of transactions sampled for gas prices, enough on a busy chain. */
const RECENT_PRICES = 2_000;
const CHART_DAYS = 31;

/** Counters and charts of one chain, from totals that its index keeps. */
export function statisticsAnswers(source: IndexSource) {
  const { reader, rates } = source;
  return {
    async getStats() {
      assertWhole(source);
      const [totals, load] = await Promise.all([reader.totals(), reader.recentLoad(RECENT_BLOCKS + 1)]);
      const [head] = load;
      const recent = load.slice(0, RECENT_BLOCKS);
      const fromBlock = recent.at(-1)?.number ?? 0;
      const [paid, today, coinPrice] = await Promise.all([
        reader.recentGasPrices({ fromBlock, limit: RECENT_PRICES }),
        head === undefined ? undefined : onDay(source, dayOf(head.timestamp)),
        rates.ofCoin(),
      ]);
      const prices = gasPrices(paid);
      return {
        body: {
          total_blocks: String(totals.blocks),
          total_addresses: String(totals.addresses),
          total_transactions: String(totals.transactions),
          average_block_time: averageBlockTime(load),
          coin_price: coinPrice,
          total_gas_used: String(totals.gasUsed),
          transactions_today: today === undefined ? null : String(today.transactions),
          gas_used_today: today === undefined ? null : String(today.gasUsed),
          gas_prices: prices,
          static_gas_price: null,
          market_cap:
            coinPrice === null ? null : String(Number(coinPrice) * Number(formatEther(totals.coinSupply))),
          network_utilization_percentage: utilization(recent),
          ...(prices === null || head === undefined
            ? {}
            : { gas_price_updated_at: microsecondTimestamp(head.timestamp) }),
        },
      };
    },

    async getTransactionStats() {
      assertCaughtUp(source);
      const [sums, pending] = await Promise.all([
        lastDay(source),
        // Not every node exposes its pool.
        reader.pendingTransactions().catch(() => null),
      ]);
      return {
        unsettled: true,
        body: {
          ...sums,
          pending_transactions_count: pending === null ? null : String(pending.length),
        },
      };
    },

    async getTransactionsChart() {
      assertCaughtUp(source);
      const [head, totals] = await Promise.all([reader.head(), reader.totals()]);
      if (head === null) return { body: { chart_data: [] } };
      const last = dayOf(head.timestamp);
      const counted = await reader.days({ first: last - CHART_DAYS + 1, last });
      const byDay = new Map(counted.map(({ day, transactions }) => [day, transactions]));
      const firstCounted = await firstWholeDay(source, head.number - totals.blocks + 1);
      return {
        body: {
          chart_data: Array.from({ length: CHART_DAYS }, (_, back) => last - back).map(day => ({
            date: dateText(day),
            transaction_count: day < firstCounted ? null : (byDay.get(day) ?? 0),
          })),
        },
      };
    },

    async getMarketChart() {
      assertWhole(source);
      const { coinSupply } = await reader.totals();
      return { body: { available_supply: formatEther(coinSupply), chart_data: [] } };
    },

    getIndexingStatus: () => indexingStatus(source),
  } satisfies Answers;
}

/** Transaction counters of the 24 hours up to the head. Null when the index does not have all of their blocks. */
async function lastDay({ reader, firstBlock }: IndexSource) {
  const { head, older, areKnown } = await reader.feesBefore(DAY_MS);
  if (older === null && firstBlock() > 0) {
    return { transactions_count_24h: null, transaction_fees_sum_24h: null, transaction_fees_avg_24h: null };
  }
  const count = (head?.transactions ?? 0) - (older?.transactions ?? 0);
  const fees = (head?.fees ?? 0n) - (older?.fees ?? 0n);
  return {
    transactions_count_24h: String(count),
    transaction_fees_sum_24h: areKnown ? String(fees) : null,
    transaction_fees_avg_24h: areKnown ? String(count === 0 ? 0n : fees / BigInt(count)) : null,
  };
}

/**
 * Mean time between blocks in milliseconds; 0 for fewer than two blocks. The genesis block is left out, because its
 * time was chosen and not measured.
 */
function averageBlockTime(newestFirst: readonly BlockLoad[]): number {
  const mined = newestFirst.filter(({ number }) => number > 0);
  const [newest] = mined;
  const oldest = mined.at(-1);
  if (newest === undefined || oldest === undefined || newest === oldest) return 0;
  return Math.max(0, (newest.timestamp - oldest.timestamp) / (newest.number - oldest.number));
}

/** Share of the gas limit used over all blocks, in percent. The genesis block is left out because it cannot use gas. */
function utilization(blocks: readonly BlockLoad[]): number | null {
  const mined = blocks.filter(({ number }) => number > 0);
  const sum = (pick: (block: BlockLoad) => bigint) => mined.reduce((total, block) => total + pick(block), 0n);
  return percentage(
    sum(({ gasUsed }) => gasUsed),
    sum(({ gasLimit }) => gasLimit),
  );
}

async function onDay({ reader }: IndexSource, day: number) {
  const [row] = await reader.days({ first: day, last: day });
  return row;
}

/** First day that the index covers completely. Days before the chain's start count as covered. */
async function firstWholeDay({ reader }: IndexSource, firstBlock: number): Promise<number> {
  if (firstBlock <= 0) return 0;
  const row = await reader.blockByNumberOrHash(firstBlock);
  return row === null ? 0 : dayOf(row.timestamp) + 1;
}

/** Share of recent transactions that paid at most the price of each speed, in percent (Decision 57). */
const PERCENTILES = { slow: 35, average: 60, fast: 90 } as const;

/** Gas prices from the prices of recent transactions, in wei; null without any. */
function gasPrices(paid: readonly bigint[]): ExplorerSchemas['GasPrices'] | null {
  const sorted = paid.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const gwei = (percentile: number) => {
    const price = sorted[Math.ceil((percentile / 100) * sorted.length) - 1];
    return price === undefined ? null : Number(formatGwei(price));
  };
  return sorted.length === 0
    ? null
    : { slow: gwei(PERCENTILES.slow), average: gwei(PERCENTILES.average), fast: gwei(PERCENTILES.fast) };
}

/**
 * Current progress of the index. Never a settled answer, because the node's head rises without any change here.
 * @throws BackendError `unavailable` until the node has reported its head.
 */
async function indexingStatus(source: IndexSource): Promise<Answer<ExplorerSchemas['IndexingStatus']>> {
  const { head, lag } = source.status();
  if (head === null) return { unsettled: true, body: NOTHING_YET };
  if (lag === null) {
    throw new BackendError('unavailable', 'incomplete', 'the node has not reported its latest block yet');
  }
  const { blocks, filledBlocks, untracedBlocks } = await source.reader.totals();
  // The index has no gaps, so the missing blocks are the node's lead.
  const all = blocks + lag;
  const isComplete = isAtHead(source);
  const hasNoTraces = untracedBlocks > 0 && untracedBlocks === filledBlocks;
  return {
    unsettled: true,
    body: {
      finished_indexing: isComplete && (hasNoTraces || untracedBlocks === 0),
      finished_indexing_blocks: isComplete,
      indexed_blocks_ratio: ratio(blocks, all),
      indexed_internal_transactions_ratio:
        isComplete && !hasNoTraces ? ratio(blocks - untracedBlocks, all) : null,
    },
  };
}

const NOTHING_YET: ExplorerSchemas['IndexingStatus'] = {
  finished_indexing: false,
  finished_indexing_blocks: false,
  indexed_blocks_ratio: '0.00',
  indexed_internal_transactions_ratio: null,
};

/** Ratio with two decimals, truncated so that 1.00 means complete. */
function ratio(part: number, whole: number): string {
  return (whole === 0 ? 0 : Math.floor((part * 100) / whole) / 100).toFixed(2);
}
