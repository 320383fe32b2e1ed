import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createMetrics } from '#http/metrics.ts';
import { systemClock } from '#lib/clock.ts';
import { silentLogger } from '#lib/logger.ts';
import { openRateLimitStore } from '#stores/rate-limit-store.ts';
import { serve } from '../http/serve.ts';
import { type OwnRedis, startOwnRedis } from '../lab/redis.ts';
import { PATIENCE_MS } from '../lab/until.ts';
import { sqliteDatabase } from '../support/databases.ts';
import { startGatedKeys } from '../support/gated-keys.ts';

let redis: OwnRedis;

beforeAll(async () => {
  redis = await startOwnRedis();
});

afterAll(() => redis[Symbol.asyncDispose]());

const answered = (ctx: { body: unknown }) => {
  ctx.body = { ok: true };
};

/** Rate-limit counters like those of another process. */
async function countersOfReplica() {
  const { counters, close } = await openRateLimitStore(
    { kind: 'redis', url: redis.url },
    { metrics: createMetrics(), clock: systemClock, log: silentLogger(), timeoutMs: PATIENCE_MS },
  );
  onTestFinished(close);
  return counters;
}

/** Status of an answer, with the limit headers that have this prefix. */
function toldOf({ status, headers }: { status: number; headers: Headers }, prefix: string) {
  const [limit, remaining] = ['limit', 'remaining'].map(name => headers.get(`${prefix}-${name}`));
  return { status, limit, remaining };
}

test('requests per address are counted over all replicas of the data service', async () => {
  const replica = async () =>
    serve([answered], {
      rateLimitPerMinute: 3,
      counters: await countersOfReplica(),
      trustedProxies: ['127.0.0.1'],
    });
  await using one = await replica();
  await using other = await replica();
  const ask = (url: string) => fetch(url, { headers: { 'X-Forwarded-For': '203.0.113.5' } });

  const answers = [];
  for (const { url } of [one, other, one, other, one]) answers.push(await ask(url));

  expect(answers.map(answer => toldOf(answer, 'ratelimit'))).toEqual([
    { status: 200, limit: '3', remaining: '2' },
    { status: 200, limit: '3', remaining: '1' },
    { status: 200, limit: '3', remaining: '0' },
    { status: 429, limit: '3', remaining: '0' },
    { status: 429, limit: '3', remaining: '0' },
  ]);
  const resets = answers.map(({ headers }) => Number(headers.get('ratelimit-reset')));
  for (const seconds of resets) {
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
  }
});

test('requests per API key and pages per payer are counted over all replicas of payments', async () => {
  const { options, remove } = await sqliteDatabase('payments');
  onTestFinished(remove);
  const replica = async () =>
    startGatedKeys({
      database: options,
      limits: { standard: 2, elevated: 5 },
      counters: await countersOfReplica(),
    });
  await using one = await replica();
  await using other = await replica();
  const { secret } = await one.key({ organizationId: await one.organization() });

  const answers = [];
  for (const service of [one, other, one])
    answers.push(await service.send('GET', '/api/v1/api-keys', { key: secret }));
  const payers = [];
  for (const service of [one, other])
    payers.push(await service.send('GET', '/api/v1/pay/sessions/cs_1/status', { from: '203.0.113.9' }));

  expect(answers.map(answer => toldOf(answer, 'x-ratelimit'))).toEqual([
    { status: 200, limit: '2', remaining: '1' },
    { status: 200, limit: '2', remaining: '0' },
    { status: 429, limit: '2', remaining: '0' },
  ]);
  const left = payers.map(answer => Number(toldOf(answer, 'x-ratelimit').remaining));
  expect(left[0]).toBe((left[1] ?? 0) + 1);
});
