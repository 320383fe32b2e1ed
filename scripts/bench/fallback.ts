import { randomBytes } from 'node:crypto';
import { type DataService, startDataService } from '../../src/data/service.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { startInstance } from './fallback/instance.ts';
import { type Figure, figureOf, median } from './figure.ts';
import { medians } from './turns.ts';

const CHAINS = 5;
const LATENCY_MS = 50;
/** Longer than the sum of all staggers, shorter than a back end's timeout. */
const SLOW_MS = 5_000;
const TIMEOUT_MS = 10_000;
const MAX_OVER_EXPECTED = 1.2;

/**
 * Time to find a transaction that only the last of five chains has, over HTTP without caches, and to answer the next
 * request about it. The chains are Blockscout servers on the loopback interface that answer after 50 ms.
 */
export async function benchFallback(): Promise<Figure[]> {
  return [
    ...(await slowChains({ staggerMs: 100, rounds: 11 })),
    ...(await slowChains({ staggerMs: 400, rounds: 5 })),
    ...(await quickChains()),
  ];
}

async function slowChains({ staggerMs, rounds }: { staggerMs: number; rounds: number }): Promise<Figure[]> {
  const expectedMs = LATENCY_MS + (CHAINS - 1) * staggerMs;
  const times = await withService({ othersMs: SLOW_MS, staggerMs, rounds }, ask => ask(''));
  return [
    figure(`on the 5th of 5 chains, 4 do not answer, over latency + 4 staggers of ${staggerMs} ms`, {
      times: times.flat(),
      expectedMs,
    }),
  ];
}

/** Chains that answer 404 at once, so no stagger applies. The next request goes to the right chain only. */
async function quickChains(): Promise<Figure[]> {
  const times = await withService(
    { othersMs: LATENCY_MS, staggerMs: 400, rounds: 31 },
    async ask => [await ask(''), await ask('/logs')] as const,
  );
  return [
    figure('on the 5th of 5 chains, 4 answer "not found", over 5 latencies', {
      times: times.map(([first]) => first),
      expectedMs: CHAINS * LATENCY_MS,
    }),
    figure('logs of a transaction whose chain is remembered, over latency', {
      times: times.map(([, second]) => second),
      expectedMs: LATENCY_MS,
    }),
  ];
}

function figure(name: string, { times, expectedMs }: { times: number[]; expectedMs: number }): Figure {
  return figureOf({
    name,
    rounds: medians(times).map(ms => ms / expectedMs),
    wanted: { atMost: MAX_OVER_EXPECTED },
    note: `${median(times).toFixed(0)} ms of ${expectedMs} ms`,
  });
}

/** Requests a new transaction every round, after one round that opens the connections. */
async function withService<Times>(
  { othersMs, staggerMs, rounds }: { othersMs: number; staggerMs: number; rounds: number },
  round: (ask: (list: string) => Promise<number>) => Promise<Times>,
): Promise<Times[]> {
  await using instances = new AsyncDisposableStack();
  const urls: string[] = [];
  for (let chain = 1; chain <= CHAINS; chain++) {
    const hasTransactions = chain === CHAINS;
    const latencyMs = hasTransactions ? LATENCY_MS : othersMs;
    urls.push(instances.use(await startInstance({ latencyMs, hasTransactions })).url);
  }
  const service = await serve(urls, staggerMs);
  instances.defer(() => service.close());
  const times: Times[] = [];
  for (let count = 0; count <= rounds; count++) {
    const hash = `0x${randomBytes(32).toString('hex')}`;
    const measured = await round(list => timed(`${service.url}/explorer/transactions/${hash}${list}`));
    if (count > 0) times.push(measured);
  }
  return times;
}

function serve(urls: readonly string[], staggerMs: number): Promise<DataService> {
  return startDataService({
    host: '127.0.0.1',
    port: 0,
    chains: urls.map((url, index) => ({
      id: index + 1,
      name: `chain ${index + 1}`,
      native: { symbol: 'ETH', decimals: 18 },
      confirmations: 12,
      rpcUrls: [],
      abis: [],
      backends: [{ kind: 'blockscout', url, apiKey: undefined }],
    })),
    cache: {
      maxBytes: 2 ** 24,
      lifetimes: { finalMs: 60_000, movingMs: 60_000, unsettledMs: 10_000, overrides: {} },
    },
    fallback: { timeoutMs: TIMEOUT_MS, staggerMs },
    validateResponses: false,
    pages: false,
    rateLimitPerMinute: 1_000_000,
    loggedRequests: 'all',
    trustedProxies: [],
    ipfsGateway: 'https://ipfs.io',
    metrics: createMetrics(),
    clock: systemClock,
    log: createLogger({ level: 'warn' }),
  });
}

async function timed(url: string): Promise<number> {
  const start = performance.now();
  const answer = await fetch(url);
  await answer.arrayBuffer();
  const ms = performance.now() - start;
  const from = answer.headers.get('x-chain-id');
  const cache = answer.headers.get('x-cache');
  if (answer.status !== 200 || from !== String(CHAINS) || cache !== 'MISS')
    throw new Error(`${url}: ${answer.status}, chain ${from}, ${cache}`);
  return ms;
}
