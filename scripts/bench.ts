/**
 * Measures speed, mostly as ratios within one run, and prints a table: `npm run bench [-- NAME …]`. Takes about twenty
 * minutes. `--compare FILE` takes the output of an earlier run and lists figures that became slower by more than the
 * spread, and figures that the earlier run lacks. Exits with 1 if any became slower or none could be compared.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { benchCacheMemory } from './bench/cache-memory.ts';
import { benchConcurrentMisses } from './bench/concurrent-misses.ts';
import { benchContractCost } from './bench/contract-cost.ts';
import { benchDeliveries } from './bench/deliveries.ts';
import { benchDepositTraffic } from './bench/deposit-traffic.ts';
import { benchFallback } from './bench/fallback.ts';
import { type Figure, newFigures, slowdowns, tableOf } from './bench/figure.ts';
import { benchGrowth } from './bench/growth.ts';
import { benchHits } from './bench/hits.ts';
import { benchIndexMisses } from './bench/index-misses.ts';
import { benchIndexPostgres } from './bench/index-postgres.ts';
import { benchInsights } from './bench/insights.ts';
import { benchLargeBlocks } from './bench/large-blocks.ts';
import { benchLive } from './bench/live.ts';
import { benchNormalise } from './bench/normalise.ts';
import { benchPages } from './bench/pages.ts';
import { finding } from './bench/payments/finding.ts';
import { benchPayments } from './bench/payments.ts';
import { benchProofTraffic } from './bench/proof-traffic.ts';
import { benchProofs } from './bench/proofs.ts';
import { benchStalls } from './bench/stalls.ts';
import { benchStart } from './bench/start.ts';
import { benchSyncRate } from './bench/sync-rate.ts';
import { benchWatcher } from './bench/watcher.ts';

const BENCHES: Readonly<Record<string, () => Promise<Figure[]>>> = {
  hits: benchHits,
  contract: benchContractCost,
  misses: benchConcurrentMisses,
  fallback: benchFallback,
  normalise: benchNormalise,
  memory: benchCacheMemory,
  proofs: benchProofs,
  sync: benchSyncRate,
  'large-blocks': benchLargeBlocks,
  index: benchIndexMisses,
  'index-postgres': benchIndexPostgres,
  growth: benchGrowth,
  insights: benchInsights,
  deliveries: benchDeliveries,
  payments: benchPayments,
  'payments-search': finding,
  'proof-traffic': benchProofTraffic,
  'deposit-traffic': benchDepositTraffic,
  pages: benchPages,
  live: benchLive,
  stalls: benchStalls,
  start: benchStart,
  watcher: benchWatcher,
};

const { values, positionals: wanted } = parseArgs({
  options: { compare: { type: 'string' } },
  allowPositionals: true,
});
const unknown = wanted.filter(name => BENCHES[name] === undefined);
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}`);
  process.exitCode = 2;
} else {
  const earlier = values.compare === undefined ? undefined : readFileSync(values.compare, 'utf8');
  const figures: Figure[] = [];
  for (const [name, bench] of Object.entries(BENCHES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    console.error(`measuring ${name} …`);
    figures.push(...(await bench()));
  }
  console.log(
    `Node ${process.version}, ${availableParallelism()} × ${cpus()[0]?.model ?? 'CPU'}\n\n${tableOf(figures)}`,
  );
  if (earlier !== undefined) compare(figures, earlier);
}

/** Prints the comparison with an earlier run and sets the exit code. */
function compare(figures: readonly Figure[], earlier: string): void {
  const [slower, added] = [slowdowns(figures, earlier), newFigures(figures, earlier)];
  const compared = figures.length - added.length;
  console.log(
    `\n${compared} of ${figures.length} figures compared, ${slower.length} slower by more than the spread`,
  );
  for (const sentence of slower) console.log(`- ${sentence}`);
  if (added.length > 0)
    console.log(`\nNot in the earlier run:\n${added.map(name => `- ${name}`).join('\n')}`);
  process.exitCode = slower.length > 0 || compared === 0 ? 1 : 0;
}
