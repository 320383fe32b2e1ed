import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseOptions } from '#db/open.ts';
import { createMetrics } from '#http/metrics.ts';
import { systemClock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { startPaymentsService } from '#payments/service.ts';
import { CHAIN_ID } from './link.ts';

/** Rate limit that no load reaches. Requests are still counted. */
const NO_LIMIT = 1_000_000_000;
/** Blocks that complete a payment. */
export const CONFIRMATIONS = 2;

export interface ServedPayments {
  /** An SQLite file, or the address of a PostgreSQL database. */
  readonly database: string;
  /** Address of a node, which need not exist. */
  readonly rpcUrl: string;
  /** The only accepted token. */
  readonly token: string;
  readonly log: Logger;
}

/** Starts the whole payments service on a database, watching one chain. */
export async function servePayments({ database, rpcUrl, token, log }: ServedPayments) {
  const { api, close } = await startPaymentsService({
    host: '127.0.0.1',
    port: 0,
    database: databaseOf(database),
    secretKey: { kind: 'value', value: 'seals-nothing-but-what-a-bench-makes-and-removes' },
    chains: [
      {
        id: CHAIN_ID,
        name: 'Bench',
        mode: 'test',
        tokens: [{ address: token, symbol: 'USDS', decimals: 6 }],
        confirmations: CONFIRMATIONS,
        explorerUrl: undefined,
        rpcUrls: [rpcUrl],
        isOfThisRun: true,
      },
    ],
    outgoing: {
      webhooks: { concurrencyPerEndpoint: 5, allowedNetworks: [], allowHttp: false },
      mail: undefined,
      mailFolder: join(tmpdir(), 'tollgate-bench-mail'),
      messenger: undefined,
    },
    rateLimitPerMinute: { standard: NO_LIMIT, elevated: NO_LIMIT },
    sessionLifetimeMs: 1_800_000,
    validateResponses: false,
    loggedRequests: 'all',
    trustedProxies: [],
    metrics: createMetrics(),
    clock: systemClock,
    log,
  });
  return { url: api?.url ?? '', close };
}

/** Options of an SQLite file, or of the address of a PostgreSQL database. */
function databaseOf(place: string): DatabaseOptions {
  return place.startsWith('postgres:') ? { kind: 'postgres', url: place } : { file: place };
}
