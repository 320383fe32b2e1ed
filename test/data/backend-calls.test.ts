import { expect, test } from 'vitest';
import type { Answers } from '#data/backends/port/backend.ts';
import { BackendError } from '#data/backends/port/backend-error.ts';
import { explorer } from '#data/explorer/operations.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { answererOver, backend, chain, emptyPage, failure, hashOf } from './answer-support.ts';

/** Asks the back ends of one chain, which have these answers, and returns the metrics. */
async function asked(...back: { name: string; answers: Answers }[]) {
  const metrics = createMetrics();
  const { serve } = answererOver([chain(1, ...back.map(backend))], { metrics });
  await explorer(serve).listTokenTransfers({ path: {}, query: {} }, { headers: {} });
  const lines = (await metrics.registry.metrics()).split('\n');
  return { calls: lines.filter(line => line.startsWith('tollgate_backend_calls_total{')), lines };
}

const listTokenTransfers = async () => emptyPage();

test('calls to back ends are counted by their outcome', async () => {
  const { calls } = await asked(
    { name: 'out', answers: { listTokenTransfers: () => Promise.reject(failure('unavailable')) } },
    { name: 'broken', answers: { listTokenTransfers: () => Promise.reject(new TypeError('no')) } },
    { name: 'cannot', answers: { listTokenTransfers: () => Promise.reject(failure('unsupported')) } },
    { name: 'without', answers: {} },
    { name: 'well', answers: { listTokenTransfers } },
    { name: 'unasked', answers: { listTokenTransfers } },
  );

  expect(calls).toEqual([
    'tollgate_backend_calls_total{chain="1",backend="out",outcome="unavailable"} 1',
    'tollgate_backend_calls_total{chain="1",backend="broken",outcome="unavailable"} 1',
    'tollgate_backend_calls_total{chain="1",backend="cannot",outcome="unsupported"} 1',
    'tollgate_backend_calls_total{chain="1",backend="well",outcome="ok"} 1',
  ]);
});

test('the time of a call is at most that of its request, in seconds', async () => {
  const startedAt = performance.now();
  const { lines } = await asked({ name: 'well', answers: { listTokenTransfers } });
  const tookS = (performance.now() - startedAt) / 1000;

  const label = 'tollgate_backend_call_duration_seconds_sum{chain="1",backend="well"} ';
  const [seconds] = lines.flatMap(line => (line.startsWith(label) ? [Number(line.slice(label.length))] : []));

  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThan(tookS);
});

test('an index without the record’s block is asked once for a record', async () => {
  let calls = 0;
  const index = backend({
    name: 'index',
    answers: {
      listTransactionLogs: () => {
        calls += 1;
        throw new BackendError('unsupported', 'not_indexed', 'its first blocks are not indexed');
      },
    },
  });
  const partial = () => ({ firstBlock: 10, insights: {} });
  const { serve } = answererOver([chain(1, { ...index, partial })]);
  const request = { path: { transaction_hash: hashOf('a') }, query: {} };

  await expect(explorer(serve).listTransactionLogs(request, { headers: {} })).rejects.toMatchObject({
    status: 501,
  });
  expect(calls).toBe(1);
});
