import type { Backend } from '../../src/data/backends/port/backend.ts';
import { responseCache } from '../../src/data/cache/response-cache.ts';
import { explorer } from '../../src/data/explorer/operations.ts';
import { dataHandlers } from '../../src/data/handlers.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { type Figure, figureOf } from './figure.ts';

const CLIENTS = 50;
const BACKEND_MS = 20;
const ROUNDS = 3;

/** Number of loads for fifty concurrent requests of the same uncached answer. */
export async function benchConcurrentMisses(): Promise<Figure[]> {
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await loadsOfMisses());
  const name = `loads for ${CLIENTS} concurrent misses of one key`;
  return [figureOf({ name, rounds, wanted: { atMost: 1 } })];
}

async function loadsOfMisses(): Promise<number> {
  let loads = 0;
  const backend: Backend = {
    kind: 'index',
    name: 'counting',
    chainId: 1,
    answers: {
      async listMainPageBlocks() {
        loads += 1;
        await systemClock.sleep(BACKEND_MS);
        return { body: [] };
      },
    },
    status: () => ({ ready: true, head: 1, lag: 0 }),
  };
  const log = createLogger({ level: 'silent' });
  const handlers = explorer(
    dataHandlers({
      chains: [
        {
          id: 1,
          key: '1',
          name: 'one',
          native: { symbol: 'ETH', decimals: 18 },
          confirmations: 12,
          backends: [backend],
        },
      ],
      cache: responseCache({ maxBytes: 2 ** 24, clock: systemClock }),
      lifetimes: { finalMs: 60_000, movingMs: 60_000, unsettledMs: 10_000, overrides: {} },
      timeoutMs: 10_000,
      staggerMs: 400,
      clock: systemClock,
      log,
      metrics: createMetrics(),
    }).serve,
  );
  const ask = () => handlers.listMainPageBlocks({ path: {}, query: {} }, { headers: {} });
  await Promise.all(Array.from({ length: CLIENTS }, ask));
  return loads;
}
