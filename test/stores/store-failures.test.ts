import { expect, test } from 'vitest';
import { createMetrics } from '#http/metrics.ts';
import { createLogger } from '#lib/logger.ts';
import { storeFailures } from '#stores/store-failures.ts';
import { manualClock } from '../support/manual-clock.ts';

test('all failures of a store are counted, and logged at most once per minute with their number', async () => {
  const clock = manualClock();
  const lines: string[] = [];
  const log = createLogger({ level: 'info', destination: { write: line => void lines.push(line) } });
  const metrics = createMetrics();
  const failures = storeFailures({ store: 'cache', meanwhile: 'a miss', metrics, clock, log });
  const scrape = () => metrics.registry.getSingleMetricAsString('tollgate_store_failures_total');
  const before = await scrape();

  for (const message of ['one', 'two', 'three']) failures.report(new Error(message));
  clock.advance(60_000);
  failures.report(new Error('redis://me:secret@host:6379/1 is gone'));

  expect(before).toContain('tollgate_store_failures_total{store="cache"} 0');
  expect(await scrape()).toContain('tollgate_store_failures_total{store="cache"} 4');
  expect(lines.map(line => JSON.parse(line))).toMatchObject([
    { msg: 'a miss', failures: 1, err: { message: 'one' } },
    { msg: 'a miss', failures: 3, err: { message: 'redis://host:6379 is gone' } },
  ]);
});

test('within a minute, another kind of failure and the recovery of a store are logged', () => {
  const clock = manualClock();
  const lines: string[] = [];
  const log = createLogger({ level: 'info', destination: { write: line => void lines.push(line) } });
  const metrics = createMetrics();
  const failures = storeFailures({ store: 'cache', meanwhile: 'a miss', metrics, clock, log });

  failures.works();
  failures.report(Object.assign(new Error('no connection'), { code: 'ECONNREFUSED' }));
  failures.report(new Error('OOM command not allowed when used memory > maxmemory'));
  failures.report(new Error('OOM command not allowed when used memory > maxmemory'));
  failures.works();
  clock.advance(5_000);
  failures.works();
  failures.works();
  clock.advance(1_000);
  failures.report(new Error('OOM command not allowed when used memory > maxmemory'));

  expect(lines.map(line => JSON.parse(line))).toMatchObject([
    { msg: 'a miss', err: { code: 'ECONNREFUSED' } },
    { msg: 'a miss', err: { message: expect.stringMatching(/^OOM/) } },
    { msg: 'the store works again', level: 30, store: 'cache', failures: 1 },
    { msg: 'a miss', failures: 1 },
  ]);
});
