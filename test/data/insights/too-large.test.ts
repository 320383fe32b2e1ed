import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { withQueryAdvice } from '#data/backends/own-index/insights/records.ts';
import { BackendError } from '#data/backends/port/backend-error.ts';
import { QueriesBusy, QueryTooLarge } from '#indexer/query/query.ts';
import { chain } from '../answer-support.ts';
import { asking, memory } from './memory-support.ts';

test('a query that exceeds any limit is refused with advice', async () => {
  for (const [reason, advice] of [
    ['deadline', 'filter_block_number'],
    ['groups', 'group by fewer fields'],
    ['page', 'lower limit'],
    ['memory', 'narrow it'],
  ] as const) {
    await expect(withQueryAdvice(Promise.reject(new QueryTooLarge(reason)))).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringContaining(advice),
    });
  }
});

test('a query without a free thread is an outage of the index with a retry delay', async () => {
  await expect(withQueryAdvice(Promise.reject(new QueriesBusy()))).rejects.toMatchObject({
    kind: 'unavailable',
    reason: 'busy',
    retryAfterMs: 1_000,
  });
});

test('too many queries are a 503 with Retry-After, and any other outage stays a 500', async () => {
  const busy = () => withQueryAdvice<never>(Promise.reject(new QueriesBusy()));
  const broken = () => Promise.reject(new BackendError('unavailable', 'failed', 'the back end failed'));
  const asked = (...groups: (() => Promise<never>)[]) =>
    asking([
      chain(
        1,
        ...groups.map((one, at) => memory(`index-${at}`, { chainId: 1, insights: { groups: one } }).backend),
      ),
    ]).blocks(undefined, { aggregate: ['count() as n'] });

  await expect(asked(busy)).rejects.toMatchObject({ status: 503, headers: { 'Retry-After': '1' } });
  await expect(asked(busy, broken)).rejects.toMatchObject({ status: 500 });
});

test('a plain query and an aggregation have a longer timeout than other requests, also while loading', async () => {
  const insights = {
    async records() {
      await delay(200);
      return { records: [], total: 0, isCapped: false, pages: 0 };
    },
    async groups() {
      await delay(200);
      return [{ keys: [], folds: [7n] }];
    },
  };
  const slow = memory('index-1', { chainId: 1, insights });
  const { blocks } = asking([chain(1, slow.backend)], { timeoutMs: 20 });

  expect(await blocks()).toMatchObject({ data: [] });
  expect(await blocks(undefined, { aggregate: ['count() as n'] })).toMatchObject({ aggregations: [{}] });
});

test('the distinct values of all chains are counted together before they are merged', async () => {
  const of = (id: number, count: number) => {
    const values = Array.from({ length: count }, (_, at) => BigInt(at));
    const insights = { groups: async () => [{ keys: [], folds: [values] }] };
    return chain(id, memory(`index-${id}`, { chainId: id, insights }).backend);
  };
  const aggregate = ['countDistinct(miner) as n'];

  const few = asking([of(1, 99_999), of(2, 99_999)]).blocks([1, 2], { aggregate });
  expect(await few).toMatchObject({ aggregations: [{ n: 99_999 }] });
  const many = asking([of(1, 99_999), of(2, 100_000)]).blocks([1, 2], { aggregate });
  await expect(many).rejects.toThrow('more than 200000 values');
});
