import { expect, test } from 'vitest';
import { openDataFront } from '../../src/data/front.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { client } from '../support/contract-client.ts';

const CHAIN_ID = 31_337;
const PICTURE = `/chain/${CHAIN_ID}/token/0x${'1'.repeat(40)}/instance/1/picture`;

/** A front whose chains are not open yet. */
async function front() {
  const opened = await openDataFront(
    {
      host: '127.0.0.1',
      port: 0,
      pages: true,
      rateLimitPerMinute: 600,
      loggedRequests: 'all',
      trustedProxies: [],
      metrics: createMetrics(),
      clock: systemClock,
      log: createLogger({ level: 'silent' }),
    },
    [CHAIN_ID],
  );
  return { ...opened, ...client(opened.url), [Symbol.asyncDispose]: () => opened.close() };
}

test('before the chains are open the process is alive and not ready', async () => {
  await using starting = await front();

  const alive = await starting.get('/healthz');
  const ready = await starting.get('/readyz');

  expect(alive.status).toBe(200);
  expect([ready.status, ready.body]).toEqual([
    503,
    { status: 'not ready', checks: { start: { ok: false, detail: 'chains are being opened' } } },
  ]);
});

test('before the chains are open every page is served with its files', async () => {
  await using starting = await front();

  const home = await fetch(`${starting.url}/`);
  const [script = ''] = /\/assets\/[^"]+home\.ts/.exec(await home.text()) ?? [];
  const statuses = await Promise.all(
    [script, `/chain/${CHAIN_ID}`, '/chain/1'].map(async path => (await fetch(starting.url + path)).status),
  );

  expect(home.status).toBe(200);
  expect(statuses).toEqual([200, 200, 404]);
});

test.each([
  ['/chains', 'message'],
  ['/openapi.json', 'message'],
  ['/explorer/transactions', 'message'],
  ['/insights/v1/transactions', 'error'],
  ['/no/such/path', 'message'],
  [PICTURE, 'message'],
])('before the chains are open %s is a 503 with Retry-After', async (path, property) => {
  await using starting = await front();

  const { status, headers, body } = await starting.get(path);

  expect([status, headers.get('retry-after'), body]).toEqual([
    503,
    '1',
    { [property]: 'The service is starting' },
  ]);
});

test('once routes are served, they replace the refusals', async () => {
  await using starting = await front();

  starting.serve({
    checks: { chain: () => ({ ok: true }) },
    routes: [
      async (ctx, next) => {
        if (ctx.path !== '/served') return next();
        ctx.body = { served: true };
      },
    ],
  });
  const statuses = await Promise.all(
    ['/served', '/', '/readyz', '/no/such/path'].map(async path => (await fetch(starting.url + path)).status),
  );

  expect(statuses).toEqual([200, 200, 200, 404]);
});
