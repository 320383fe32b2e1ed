import { type DataService, startDataService } from '../../src/data/service.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import type { Logger } from '../../src/lib/logger.ts';
import type { FaultyUpstream } from './upstreams.ts';

/** A clock that runs faster than real time, so that pauses and lifetimes of minutes end within a run. */
export interface FastClock extends Clock {
  leap(ms: number): void;
}

const SPEED = 20;
/** Timeout of a back end, in real milliseconds. */
export const TIMEOUT_MS = 1_000;
/** Deadline of a whole request in real milliseconds: three back ends may hang one after another. */
export const DEADLINE_MS = 3 * TIMEOUT_MS;
const STAGGER_MS = 100;

/** Creates a fast clock that starts at the system's time. */
export function fastClock(): FastClock {
  const startedAt = Date.now();
  let leapt = 0;
  return {
    now: () => startedAt + (Date.now() - startedAt) * SPEED + leapt,
    // Waits use real time, like the deadlines.
    sleep: systemClock.sleep,
    leap(ms) {
      leapt += ms;
    },
  };
}

/** Starts the data service on these upstreams. In real time, its cache lifetimes are 3 s, 1 s and 0.5 s. */
export function startService(
  upstreams: readonly FaultyUpstream[],
  { clock, log }: { clock: Clock; log: Logger },
): Promise<DataService> {
  return startDataService({
    host: '127.0.0.1',
    port: 0,
    chains: upstreams.map(({ world, service, apiKey }) => ({
      id: world.chainId,
      name: `Chain ${world.chainId}`,
      native: { symbol: 'ETH', decimals: 18 },
      confirmations: 12,
      rpcUrls: [],
      abis: [],
      backends: [{ kind: 'blockscout', url: service.url, apiKey }],
    })),
    cache: {
      maxBytes: 256 * 2 ** 20,
      lifetimes: {
        finalMs: 3_000 * SPEED,
        movingMs: 1_000 * SPEED,
        unsettledMs: 500 * SPEED,
        overrides: {},
      },
    },
    fallback: { timeoutMs: TIMEOUT_MS, staggerMs: STAGGER_MS },
    validateResponses: true,
    pages: false,
    rateLimitPerMinute: 600,
    loggedRequests: 'all',
    trustedProxies: [],
    ipfsGateway: 'https://ipfs.io',
    metrics: createMetrics(),
    clock,
    log,
  });
}
