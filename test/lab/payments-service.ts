import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseOptions } from '../../src/db/open.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/logger.ts';
import type { PaymentsListener } from '../../src/payments/listener.ts';
import { NATIVE_COIN } from '../../src/payments/model/payment-chain.ts';
import {
  type PaymentsService,
  type PaymentsServiceOptions,
  startPaymentsService,
  type WatchedChain,
} from '../../src/payments/service.ts';

export interface TestPaymentsService extends PaymentsService, PaymentsListener, AsyncDisposable {}

/** The whole service on a free port, with a demo that pays `SHOP`. Every answer is checked against the contract. */
export async function startTestPayments(
  database: DatabaseOptions,
  overrides: Partial<PaymentsServiceOptions> = {},
): Promise<TestPaymentsService> {
  const service = await startTestProcess(database, overrides);
  if (service.api === undefined) throw new Error('without the role payments there is no listener');
  return { ...service, ...service.api };
}

/** One process of the platform, with all roles or some. */
export async function startTestProcess(
  database: DatabaseOptions,
  overrides: Partial<PaymentsServiceOptions> = {},
): Promise<PaymentsService & AsyncDisposable> {
  const service = await startPaymentsService({
    host: '127.0.0.1',
    port: 0,
    database,
    secretKey: { kind: 'value', value: 'seals-nothing-but-what-tests-keep-and-drop' },
    chains: [unreachableChain],
    demo: { chainId: unreachableChain.id, tokenAddress: NATIVE_COIN, recipientAddress: SHOP },
    rateLimitPerMinute: { standard: 1_000, elevated: 10_000 },
    sessionLifetimeMs: 600_000,
    validateResponses: true,
    loggedRequests: 'all',
    trustedProxies: [],
    outgoing: LOOPBACK_ONLY,
    metrics: createMetrics(),
    clock: systemClock,
    log: createLogger({ level: 'silent' }),
    ...overrides,
  });
  return { ...service, [Symbol.asyncDispose]: service.close };
}

/** Outgoing channels limited to this machine. Mails go to a folder that no test reads. */
export const LOOPBACK_ONLY: PaymentsServiceOptions['outgoing'] = {
  webhooks: {
    concurrencyPerEndpoint: 5,
    allowedNetworks: ['127.0.0.0/8'],
    keptNetworks: ['127.0.0.0/8'],
    allowHttp: true,
  },
  mail: undefined,
  mailFolder: join(tmpdir(), 'tollgate-test-mail'),
  messenger: undefined,
};

/** Recipient of the demo's payments in tests. */
export const SHOP = `0x${'5e'.repeat(20)}`;

/** A chain with its coin only, and nothing listening at the address of its node. */
export const unreachableChain: WatchedChain = {
  id: 31_337,
  name: 'Local',
  mode: 'test',
  tokens: [{ address: NATIVE_COIN, symbol: 'ETH', decimals: 18 }],
  confirmations: 2,
  explorerUrl: undefined,
  rpcUrls: ['http://127.0.0.1:9'],
  isOfThisRun: false,
};
