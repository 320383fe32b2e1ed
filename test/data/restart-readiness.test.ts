import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  CHAIN_ID,
  log,
  openTestIndex,
  servedTestChain,
  startTestChain,
  type TestChain,
} from '../indexer/support.ts';
import { servedChain, startTestDataService } from '../lab/data-service.ts';
import { type FaultyNode, faultyNode } from '../lab/faulty-node.ts';
import { list, record } from '../lab/json.ts';
import { until } from '../lab/until.ts';
import { client } from '../support/contract-client.ts';
import { manualClock } from '../support/manual-clock.ts';

const STORED_BLOCKS = 3;
const BEHIND_BLOCKS = 1_100;
const NOWHERE = 'http://127.0.0.1:9';

let chain: TestChain;
let node: FaultyNode;

/** An index with the first blocks of a chain, as an earlier process has left it. */
beforeAll(async () => {
  chain = await startTestChain();
  node = await faultyNode(chain.rpcUrl);
  for (let block = 0; block < STORED_BLOCKS; block += 1) await chain.mine();
  const file = join(chain.folder, `index-${CHAIN_ID}.db`);
  const index = await openTestIndex({ file, client: chain.client });
  await index.runOnce();
  await index.stop();
});

afterAll(async () => {
  await node?.[Symbol.asyncDispose]();
  await chain?.stop();
});

/** Starts the data service with the stored index and, in some tests, with further chains. */
async function restarted(...others: { id: number; rpcUrl: string }[]) {
  const clock = manualClock();
  const further = others.map(other => ({
    ...servedTestChain(other.rpcUrl),
    ...other,
    name: `chain ${other.id}`,
  }));
  const service = await startTestDataService(
    [],
    {
      chains: [servedTestChain(node.url), ...further].map(one => servedChain(one, chain.folder)),
      fallback: { timeoutMs: 1_000, staggerMs: 400 },
      clock,
      log,
    },
    async () => undefined,
  );
  const api = client(service.url);
  return {
    service,
    clock,
    api,
    async ready() {
      const answer = await fetch(`${service.url}/readyz`);
      return { status: answer.status, checks: record(record(await answer.json()).checks) };
    },
    [Symbol.asyncDispose]: service.close,
  };
}

/** Waits ten seconds by the service's clock for the node, and returns the readiness before and after. */
async function afterWait({ ready, clock }: Awaited<ReturnType<typeof restarted>>) {
  const before = await ready();
  clock.advance(10_000);
  const after = await until(ready, ({ status }) => status === 200);
  return { before: before.status, ...after };
}

test('a process that starts while its node is silent becomes ready and serves what is stored', async () => {
  node.slow(Number.POSITIVE_INFINITY);
  await using process = await restarted();

  const readiness = await afterWait(process);
  const block = await process.api.get(`/explorer/blocks/1?chain_id=${CHAIN_ID}`);
  const status = record(await process.service.status());
  node.slow(0);

  expect(readiness).toMatchObject({ before: 503, status: 200 });
  expect(record(readiness.checks[`chain ${CHAIN_ID}`]).detail).toMatch(
    /^at block 3, an unknown number of blocks and \d+ s behind, not caught up since the start$/,
  );
  expect(block.status).toBe(200);
  const [backend] = list(record(list(status.chains)[0]).backends);
  expect(record(backend)).toMatchObject({ head_block: 3, lag_blocks: null, lag_seconds: expect.any(Number) });
});

test('a process is ready with a chain that is new in the file and whose node is away', async () => {
  await using process = await restarted({ id: 77, rpcUrl: NOWHERE });

  const { status, checks } = await until(process.ready, one => one.status === 200);

  expect(status).toBe(200);
  expect(checks['chain 77']).toEqual({ ok: true, detail: 'nothing is indexed yet, being filled' });
});

test('a process whose index is 1,100 blocks behind becomes ready and serves what it has', async () => {
  await chain.rpc.call('anvil_mine', BEHIND_BLOCKS);
  // The node has new heads, and none of their blocks.
  node.tell(({ method, params }) =>
    method === 'eth_getBlockByNumber' && params?.[0] !== 'latest' ? new Error('out of order') : undefined,
  );
  await using process = await restarted();
  await until(process.ready, ({ checks }) =>
    String(record(checks[`chain ${CHAIN_ID}`]).detail).includes(`${BEHIND_BLOCKS} blocks and `),
  );

  const { before, status } = await afterWait(process);
  const block = await process.api.get(`/explorer/blocks/1?chain_id=${CHAIN_ID}`);
  node.tell(undefined);

  expect([before, status, block.status]).toEqual([503, 200, 200]);
});
