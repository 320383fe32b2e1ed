import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createMetrics } from '#http/metrics.ts';
import { systemClock } from '#lib/clock.ts';
import { silentLogger } from '#lib/logger.ts';
import { openRateLimitStore, type RateLimitStoreOptions } from '#stores/rate-limit-store.ts';
import { type OwnRedis, startOwnRedis } from '../lab/redis.ts';
import { PATIENCE_MS } from '../lab/until.ts';
import { postgresDatabase } from '../support/databases.ts';

let redis: OwnRedis;

beforeAll(async () => {
  redis = await startOwnRedis();
});

afterAll(() => redis[Symbol.asyncDispose]());

async function open(options: RateLimitStoreOptions, patienceMs?: number) {
  const metrics = createMetrics();
  const store = await openRateLimitStore(options, {
    metrics,
    clock: systemClock,
    log: silentLogger(),
    ...(patienceMs === undefined ? {} : { timeoutMs: patienceMs }),
  });
  onTestFinished(() => store.close());
  return { ...store, metrics };
}

const STORES: readonly (readonly [string, () => Promise<RateLimitStoreOptions>])[] = [
  ['Redis', async () => ({ kind: 'redis', url: redis.url })],
  [
    'PostgreSQL',
    async () => {
      const { options, remove } = await postgresDatabase();
      onTestFinished(remove);
      if (options.kind !== 'postgres') throw new Error('not a PostgreSQL database');
      return options;
    },
  ],
];

describe.each(STORES)('rate limits in %s', (_, optionsOf) => {
  test('hold over all processes, with a common remaining count', async () => {
    const options = await optionsOf();
    const [one, other] = [await open(options, PATIENCE_MS), await open(options, PATIENCE_MS)];
    const [here, there] = [one.counters('test', 3), other.counters('test', 3)];

    const counts = [await here('a'), await there('a'), await here('a'), await there('a'), await here('a')];
    const stranger = await there('b');

    expect(counts.map(({ remaining }) => remaining)).toEqual([2, 1, 0, 0, 0]);
    expect(counts.map(({ isRefused }) => isRefused)).toEqual([false, false, false, true, true]);
    for (const { msLeft } of counts) {
      expect(msLeft).toBeGreaterThan(0);
      expect(msLeft).toBeLessThanOrEqual(60_000);
    }
    expect(stranger).toMatchObject({ limit: 3, remaining: 2, isRefused: false });
  });

  test('count several requests at once, also beyond the limit', async () => {
    const { counters } = await open(await optionsOf(), PATIENCE_MS);
    const counter = counters('several', 10);

    const counts = [await counter('a', 4), await counter('a'), await counter('a', 100), await counter('a')];

    expect(counts.map(({ remaining }) => remaining)).toEqual([6, 5, 0, 0]);
    expect(counts.map(({ isRefused }) => isRefused)).toEqual([false, false, true, true]);
  });

  test('of one kind do not affect another', async () => {
    const { counters } = await open(await optionsOf(), PATIENCE_MS);
    const [key, page] = [counters('key', 1), counters('page', 1)];

    const counts = [await key('a'), await page('a')];

    expect(counts.map(({ isRefused }) => isRefused)).toEqual([false, false]);
  });
});

describe('rate limits during a Redis outage', () => {
  test.each([
    ['is gone', (own: OwnRedis) => own.stop()],
    ['hangs', async (own: OwnRedis) => own.hang()],
  ])('are counted by each process while Redis %s', async (_, takeAway) => {
    const own = await startOwnRedis();
    onTestFinished(() => own[Symbol.asyncDispose]());
    const { counters, metrics } = await open({ kind: 'redis', url: own.url });
    const counter = counters('test', 2);
    await takeAway(own);

    const counts = [await counter('a'), await counter('a'), await counter('a')];

    expect(counts.map(({ remaining }) => remaining)).toEqual([1, 0, 0]);
    expect(counts.map(({ isRefused }) => isRefused)).toEqual([false, false, true]);
    const failures = await metrics.registry.getSingleMetric('tollgate_store_failures_total')?.get();
    expect(failures?.values[0]?.value).toBeGreaterThanOrEqual(3);
  });

  test('are counted in Redis again once it is back', async () => {
    const own = await startOwnRedis();
    onTestFinished(() => own[Symbol.asyncDispose]());
    const [one, other] = [
      await open({ kind: 'redis', url: own.url }, PATIENCE_MS),
      await open({ kind: 'redis', url: own.url }, PATIENCE_MS),
    ];
    const [here, there] = [one.counters('test', 1_000), other.counters('test', 1_000)];
    await own.stop();
    await here('a');
    await own.start();

    await expect
      .poll(async () => {
        const [before, after] = [await here('a'), await there('a')];
        return before.remaining - after.remaining;
      })
      .toBe(1);
  });
});
