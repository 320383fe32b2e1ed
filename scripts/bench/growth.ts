import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Figure, median } from './figure.ts';
import { startCannedNode } from './growth/canned-node.ts';
import { REQUESTS, spotOf } from './growth/requests.ts';
import { type ServedIndex, serveIndex } from './growth/serve-index.ts';
import { writeSyntheticIndex } from './growth/synthetic-index.ts';
import { timedRequest } from './growth/timed-request.ts';

const CHAIN_ID = 31_337;
const SHORT = 1_000;
const LONG = 20_000;
const WARM_ROUNDS = 6;
const ROUNDS = 41;
const TARGET = 1.5;
/** Days are counted, and these have more of them on a longer chain. */
const CHARTS = ['getTransactionsChart', 'getMarketChart'];

/**
 * Median time of every operation over HTTP, nothing cached, on a chain of 20,000 blocks over one of 1,000. Both have the
 * same things in every block. The node that some operations ask is made up and always as quick.
 */
export async function benchGrowth(): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  try {
    await using node = await startCannedNode(CHAIN_ID);
    await using short = await servedChain(folder, node.url, SHORT);
    await using long = await servedChain(folder, node.url, LONG);
    const figures: Figure[] = [];
    for (const [operation, pathAt] of Object.entries(REQUESTS)) {
      const times = { short: [] as number[], long: [] as number[] };
      let refusal: number | undefined;
      for (let round = -WARM_ROUNDS; round < ROUNDS; round++) {
        const index = round + WARM_ROUNDS;
        const one = await timedRequest(short, pathAt(spotOf(index, SHORT)));
        const other = await timedRequest(long, pathAt(spotOf(index, LONG)));
        refusal ??= [one, other].find(({ status }) => status !== 200)?.status;
        if (refusal !== undefined) break;
        if (round < 0) continue;
        times.short.push(one.ms);
        times.long.push(other.ms);
      }
      figures.push(refusal === undefined ? figureOf(operation, times) : refused(operation, refusal));
    }
    return figures;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function servedChain(folder: string, nodeUrl: string, blocks: number): Promise<ServedIndex> {
  const database = { file: join(folder, `index-${blocks}.db`) };
  await writeSyntheticIndex({ database, chainId: CHAIN_ID, blocks });
  return serveIndex({ database, chainId: CHAIN_ID, nodeUrl, blocks });
}

function figureOf(operation: string, { short, long }: Record<'short' | 'long', readonly number[]>): Figure {
  const ratio = median(long) / median(short);
  const isFree = CHARTS.includes(operation);
  return {
    name: `${operation}, p50 at ${LONG} blocks over ${SHORT}`,
    value: ratio,
    target: isFree ? 'any' : `≤ ${TARGET}`,
    ok: isFree || ratio <= TARGET,
    note: `${median(short).toFixed(2)} ms → ${median(long).toFixed(2)} ms`,
  };
}

/** An operation that does not answer has no time, and that is a failure of the measurement. */
function refused(operation: string, status: number): Figure {
  return { name: operation, value: Number.NaN, target: `≤ ${TARGET}`, ok: false, note: `answered ${status}` };
}
