import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { normalize } from 'viem/ens';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestChain, type TestChain } from '../indexer/support.ts';
import { type Client, client } from '../support/contract-client.ts';
import { startTestDataService } from '../support/data-service.ts';
import { until } from '../support/until.ts';

/** No thread grows beyond its share of the memory, which would have it replaced. */
const QUERIES = { concurrency: 2, memoryBytes: 4_000_000_000 };
const THREADS = 2 * QUERIES.concurrency;
/** Processor time of a name whose tables are not loaded yet is four times as much. */
const LOADED_MS = 40;

let chain: TestChain;
let api: Client;
/** Threads that were started, by the time the service was ready and since. */
let started = 0;
let startedUntilReady: number;
let nameMs: number;
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  chain = await startTestChain();
  stack.defer(() => chain.stop());
  await chain.mine();
  const count = () => {
    started += 1;
  };
  subscribe('worker_threads', count);
  stack.defer(() => {
    unsubscribe('worker_threads', count);
  });
  const service = stack.use(
    await startTestDataService(
      [{ id: 31_337, name: 'Chain', rpcUrl: chain.rpcUrl, contracts: [], pids: { supervisor: 0, anvil: 0 } }],
      { queries: QUERIES },
      async ({ url }) => {
        await until(
          async () => (await fetch(`${url}/readyz`)).status,
          status => status === 200,
        );
        startedUntilReady = started;
      },
    ),
  );
  nameMs = processorTimeOf(() => normalize('first.eth'));
  api = client(service.url);
});
afterAll(() => stack.disposeAsync());

function processorTimeOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

test('all threads of queries run when the service says that it is ready, and the first aggregates start none', async () => {
  const aggregate = () => api.get('/insights/v1/blocks?aggregate=count()&group_by=block_number');

  const answers = await Promise.all([aggregate(), aggregate()]);

  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect([startedUntilReady, started]).toEqual([THREADS, THREADS]);
});

test('the tables of names are loaded when the service says that it is ready', () => {
  expect(nameMs).toBeLessThan(LOADED_MS);
});
