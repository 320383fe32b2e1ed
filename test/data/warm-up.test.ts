import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { normalize } from 'viem/ens';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ServedChain } from '../../src/data/open-chain.ts';
import type { DataService } from '../../src/data/service.ts';
import { CHAIN_ID, startTestChain, type TestChain } from '../indexer/support.ts';
import { startTestDataService } from '../lab/data-service.ts';
import { until } from '../lab/until.ts';
import { type Client, client } from '../support/contract-client.ts';

/** Keeps each thread within its share of memory: a thread beyond it would be replaced. */
const QUERIES = { concurrency: 2, memoryBytes: 4_000_000_000 };
/** The first thread of each lane. */
const THREADS = 2;
/** A name costs four times the processor time while its tables are not loaded. */
const LOADED_MS = 40;

let chain: TestChain;
let api: Client;
let started = 0;
/** Threads that have reported ready for queries. */
let running = 0;
let runningWhenReady: number;
let nameMs: number;
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  chain = await startTestChain();
  stack.defer(() => chain.stop());
  await chain.mine();
  const file = join(chain.folder, 'warm-up.db');
  // An index that has its whole chain from the start becomes ready first.
  await (await serve(file, service => service.whenComplete())).close();
  subscribe('worker_threads', count);
  stack.defer(() => {
    unsubscribe('worker_threads', count);
  });
  const service = stack.use(await serve(file, untilReady));
  runningWhenReady = running;
  nameMs = processorTimeOf(() => normalize('first.eth'));
  api = client(service.url);
});
afterAll(() => stack.disposeAsync());

function serve(file: string, untilServed: (service: DataService) => Promise<unknown>) {
  const served: ServedChain = {
    id: CHAIN_ID,
    name: 'Chain',
    native: { symbol: 'ETH', decimals: 18 },
    confirmations: 12,
    rpcUrls: [chain.rpcUrl],
    abis: [],
    names: { registry: '0x00000000000C2E074eC69A0dFb2997BA6C7d2e1e' },
    backends: [{ kind: 'index', database: { file }, fromBlock: 0, pollMs: 50 }],
  };
  return startTestDataService([], { chains: [served], queries: QUERIES }, async service => {
    await untilServed(service);
  });
}

function untilReady({ url }: DataService): Promise<number> {
  return until(
    async () => (await fetch(`${url}/readyz`)).status,
    status => status === 200,
  );
}

function count(message: unknown): void {
  if (typeof message !== 'object' || message === null || !('worker' in message)) return;
  if (!(message.worker instanceof Worker)) return;
  started += 1;
  message.worker.once('message', () => {
    running += 1;
  });
}

function processorTimeOf(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

test('a query thread of each lane runs when the service reports ready, and the first aggregates start none', async () => {
  const aggregate = () => api.get('/insights/v1/blocks?aggregate=count()&group_by=block_number');

  const answers = await Promise.all([aggregate(), aggregate()]);

  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect([runningWhenReady, started]).toEqual([THREADS, THREADS]);
});

test('the tables of names are loaded when the service reports ready', () => {
  expect(nameMs).toBeLessThan(LOADED_MS);
});
