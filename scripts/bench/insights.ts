import type { Figure } from './figure.ts';
import { bulkIndex } from './insights/bulk-index.ts';
import { besideHeavyClient } from './insights/heavy-client.ts';
import { endToEnd, hitsBesideAggregates } from './insights/over-http.ts';
import { growth, overHand } from './insights/reader.ts';

/**
 * Cost of the insights API on an index of 1,000,000 transactions and 2,000,000 events, and on one a tenth of that size.
 */
export async function benchInsights(): Promise<Figure[]> {
  const small = await bulkIndex(100_000);
  const large = await bulkIndex(1_000_000);
  return [
    ...(await overHand(large)),
    ...(await growth(small, large)),
    ...(await endToEnd(large)),
    ...(await hitsBesideAggregates(large)),
    ...(await besideHeavyClient(large, { database: large.file, on: 'SQLite' })),
  ];
}
