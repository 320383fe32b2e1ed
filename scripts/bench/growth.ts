import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure } from './figure.ts';
import { startCannedNode } from './growth/canned-node.ts';
import { REQUESTS, spotOf } from './growth/requests.ts';
import { type ServedIndex, serveIndex } from './growth/serve-index.ts';
import { writeSyntheticIndex } from './growth/synthetic-index.ts';
import { timedRequest } from './timed-request.ts';
import { inTurns, type Rounds, timeRatio, wallMs } from './turns.ts';

const CHAIN_ID = 31_337;
const SHORT = 1_000;
const LONG = 20_000;
const ROUNDS: Rounds = { warm: 6, rounds: 41, timed: wallMs };
const MAX_GROWTH = { atMost: 1.5 };
/** Charts, whose answers have more days on a longer chain. They have no goal. */
const CHARTS = ['getTransactionsChart', 'getMarketChart'];

/**
 * Median time of every operation over HTTP without caches, on a chain of 20,000 blocks over one of 1,000. Blocks of
 * both have the same content. The node for some operations is simulated and always equally fast.
 */
export async function benchGrowth(): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  try {
    await using node = await startCannedNode(CHAIN_ID);
    await using short = await servedChain(folder, node.url, SHORT);
    await using long = await servedChain(folder, node.url, LONG);
    const figures: Figure[] = [];
    for (const [operation, pathAt] of Object.entries(REQUESTS)) {
      const times = await inTurns(ROUNDS, [
        round => timedRequest(`${short.url}/explorer${pathAt(spotOf(round, SHORT))}`),
        round => timedRequest(`${long.url}/explorer${pathAt(spotOf(round, LONG))}`),
      ]);
      const wanted = CHARTS.includes(operation) ? undefined : MAX_GROWTH;
      figures.push(timeRatio(`${operation}, p50 at ${LONG} blocks over ${SHORT}`, times, wanted));
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
