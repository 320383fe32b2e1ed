import { formatGwei } from 'viem';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';

/** Which share of recent transactions paid no more than the price of a speed, in percent. Decision 57. */
const PERCENTILES = { slow: 35, average: 60, fast: 90 } as const;

/** Gas prices from what recent transactions paid, in wei; null when there are none. */
export function gasPrices(paid: readonly bigint[]): ExplorerSchemas['GasPrices'] | null {
  const sorted = paid.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const gwei = (percentile: number) => {
    const price = sorted[Math.ceil((percentile / 100) * sorted.length) - 1];
    return price === undefined ? null : Number(formatGwei(price));
  };
  return sorted.length === 0
    ? null
    : { slow: gwei(PERCENTILES.slow), average: gwei(PERCENTILES.average), fast: gwei(PERCENTILES.fast) };
}
