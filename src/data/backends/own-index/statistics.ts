import { formatEther } from 'viem';
import type { BlockLoad } from '#indexer/read/statistics.ts';
import type { Answers } from '../port/backend.ts';
import { gasPrices } from './gas-prices.ts';
import { indexingStatus } from './indexing-status.ts';
import { dateText, dayOf } from './parts/day.ts';
import { percentage, timestamp } from './parts/text.ts';
import { assertCaughtUp, assertWhole, type IndexSource } from './source/source.ts';

/** Blocks that tell the pace, the load and the gas prices of now. */
const RECENT_BLOCKS = 100;
/** Of a busy chain the newest transactions tell the gas prices well enough. */
const RECENT_PRICES = 2_000;
const CHART_DAYS = 31;

type StatisticsAnswers = Pick<
  Answers,
  'getStats' | 'getTransactionsChart' | 'getMarketChart' | 'getIndexingStatus'
>;

/** Counters and charts of one chain, from what its index keeps counted. Prices are nobody's to know here. */
export function statisticsAnswers(source: IndexSource): StatisticsAnswers {
  const { reader } = source;
  return {
    async getStats() {
      assertWhole(source);
      const [totals, load] = await Promise.all([reader.totals(), reader.recentLoad(RECENT_BLOCKS + 1)]);
      const [head] = load;
      const recent = load.slice(0, RECENT_BLOCKS);
      const fromBlock = recent.at(-1)?.number ?? 0;
      const prices = gasPrices(await reader.recentGasPrices({ fromBlock, limit: RECENT_PRICES }));
      const today = head === undefined ? undefined : await onDay(source, dayOf(head.timestamp));
      return {
        body: {
          total_blocks: String(totals.blocks),
          total_addresses: String(totals.addresses),
          total_transactions: String(totals.transactions),
          average_block_time: averageBlockTime(load),
          coin_price: null,
          total_gas_used: String(totals.gasUsed),
          transactions_today: today === undefined ? null : String(today.transactions),
          gas_used_today: today === undefined ? null : String(today.gasUsed),
          gas_prices: prices,
          static_gas_price: null,
          market_cap: null,
          network_utilization_percentage: utilization(recent),
          ...(prices === null || head === undefined
            ? {}
            : { gas_price_updated_at: timestamp(head.timestamp) }),
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
  };
}

/**
 * Mean time between the blocks in milliseconds; 0 while there are no two. The genesis block is left out: its time
 * was chosen and not measured.
 */
function averageBlockTime(newestFirst: readonly BlockLoad[]): number {
  const mined = newestFirst.filter(({ number }) => number > 0);
  const [newest] = mined;
  const oldest = mined.at(-1);
  if (newest === undefined || oldest === undefined || newest === oldest) return 0;
  return Math.max(0, (newest.timestamp - oldest.timestamp) / (newest.number - oldest.number));
}

/** Gas used of the gas limit, over all of the blocks; the genesis block used none and could not have. */
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

/** The first day that the index has whole; days before a chain began are whole, too. */
async function firstWholeDay({ reader }: IndexSource, firstBlock: number): Promise<number> {
  if (firstBlock <= 0) return 0;
  const row = await reader.blockByNumberOrHash(firstBlock);
  return row === null ? 0 : dayOf(row.timestamp) + 1;
}
