import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMetrics } from '#http/metrics.ts';
import { servedTestChain, startTestChain, type TestChain } from '../indexer/support.ts';
import { servedChain, startTestDataService, type TestDataService } from '../lab/data-service.ts';
import { type FaultyNode, faultyNode } from '../lab/faulty-node.ts';
import { list, record } from '../lab/json.ts';
import { client } from '../support/contract-client.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';

const MINUTE_MS = 60_000;

let chain: TestChain;
let node: FaultyNode;
let service: TestDataService;
let clock: ManualClock;
const metrics = createMetrics();

beforeAll(async () => {
  chain = await startTestChain();
  await chain.mine();
  node = await faultyNode(chain.rpcUrl);
  clock = manualClock(Date.now());
  service = await startTestDataService([], {
    chains: [servedChain(servedTestChain(node.url), chain.folder)],
    clock,
    metrics,
  });
});

afterAll(async () => {
  await service?.close();
  await node?.[Symbol.asyncDispose]();
  await chain?.stop();
});

/** Lets the index poll its node for this time, and returns its state from `/chains`, `/status` and the metrics. */
async function after(ms: number) {
  for (let passed = 0; passed < ms; passed += 5_000) {
    clock.advance(5_000);
    // Fails while the node does.
    await service.catchUp().catch(() => undefined);
  }
  const [chains, status] = [await client(service.url).get('/chains'), await service.status()];
  const backendOf = (body: unknown) => record(list(record(list(record(body).chains)[0]).backends)[0]);
  const stalled = /tollgate_index_stalled\{chain="31337"\} (\d)/.exec(await metrics.registry.metrics())?.[1];
  return {
    lag: backendOf(chains.body).lag,
    stalled: [backendOf(chains.body).stalled, backendOf(status).stalled, stalled === '1'],
  };
}

/** Gauges of the index, by the rest of their names. */
async function gauges(): Promise<Record<string, number>> {
  const text = await metrics.registry.metrics();
  const found = text.matchAll(/^tollgate_index_(head_block|lag_\w+)\{chain="31337"\} (\d+)$/gm);
  return Object.fromEntries([...found].map(([, name, value]) => [name, Number(value)]));
}

/** Fails every block but not its header. */
function failBlocks(): void {
  const refused = ['eth_getTransactionByHash', 'eth_getTransactionReceipt', 'eth_getBlockReceipts'];
  node.tell(({ method, params }) => {
    const isBody = method === 'eth_getBlockByNumber' && params?.[0] !== 'latest';
    return isBody || refused.includes(method) ? new Error('out of order') : undefined;
  });
}

test('an index at the head of a chain without new blocks is not stalled', async () => {
  expect(await after(10 * MINUTE_MS)).toEqual({ lag: 0, stalled: [false, false, false] });
});

test('an index is stalled a minute after its node has a block that it cannot read, until it has read it', async () => {
  failBlocks();
  await chain.mine();

  const soon = await after(MINUTE_MS / 2);
  const late = await after(MINUTE_MS);
  node.tell(undefined);
  await service.catchUp();
  const read = await after(5_000);

  expect(soon).toEqual({ lag: 1, stalled: [false, false, false] });
  expect(late).toEqual({ lag: 1, stalled: [true, true, true] });
  expect(read).toEqual({ lag: 0, stalled: [false, false, false] });
});

test('an index whose node hangs keeps its head and lag in the metrics, and /status warns of it', async () => {
  const before = await gauges();
  node.tell(() => new Error('out of order'));
  await after(3 * MINUTE_MS);

  const during = await gauges();
  const { warnings } = record(await service.status());
  node.tell(undefined);
  await service.catchUp();
  const { warnings: afterwards } = record(await service.status());

  expect(before).toEqual({ head_block: expect.any(Number), lag_blocks: 0, lag_seconds: 0 });
  expect(during).toEqual({ ...before, lag_seconds: expect.any(Number) });
  expect(during.lag_seconds).toBeGreaterThanOrEqual(175);
  expect(warnings).toEqual(['the index of chain 31337 does not advance: its node is silent']);
  expect(afterwards).toEqual([]);
});
