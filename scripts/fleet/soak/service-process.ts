/** Process of a soak test's payments service. May be killed at any time. Ends when its parent disconnects. */
import { createMetrics } from '../../../src/http/metrics.ts';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import { createLogger } from '../../../src/lib/logger.ts';
import { NATIVE_COIN } from '../../../src/payments/model/payment-chain.ts';
import { startPaymentsService } from '../../../src/payments/service.ts';
import { CHAIN_ID } from '../shops/sales.ts';
import { type Leap, type Ready, SECRET_KEY, type ServiceOrder } from './terms.ts';

const order: ServiceOrder = JSON.parse(process.argv[2] ?? '');
const { file, mailFolder, port, startedAt, speed, rpcUrls } = order;
let leaptMs = order.leaptMs;

/** Continues the clock of the previous process. Waits and time limits use real time. */
const clock: Clock = {
  now: () => startedAt + (Date.now() - startedAt) * speed + leaptMs,
  sleep: systemClock.sleep,
};

process.on('message', (leap: Leap) => {
  leaptMs = leap.leaptMs;
});

const service = await startPaymentsService({
  host: '127.0.0.1',
  port,
  database: { file },
  secretKey: { kind: 'value', value: SECRET_KEY },
  chains: [
    {
      id: CHAIN_ID,
      name: 'Soak',
      mode: 'test',
      tokens: [{ address: NATIVE_COIN, symbol: 'ETH', decimals: 18 }],
      confirmations: 2,
      explorerUrl: undefined,
      rpcUrls,
      isOfThisRun: false,
    },
  ],
  rateLimitPerMinute: { standard: 100_000, elevated: 100_000 },
  sessionLifetimeMs: 24 * 60 * 60_000,
  validateResponses: true,
  loggedRequests: 'all',
  trustedProxies: [],
  outgoing: {
    webhooks: { concurrencyPerEndpoint: 5, allowedNetworks: ['127.0.0.0/8'], allowHttp: true },
    mail: undefined,
    mailFolder,
    messenger: undefined,
  },
  metrics: createMetrics(),
  clock,
  log: createLogger({ level: 'info' }),
});

process.once('disconnect', async () => {
  await service.close();
  process.exit(0);
});
process.send?.({ url: service.api?.url ?? '' } satisfies Ready);
