import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CrossingChain, PAYEES, startCrossingChain } from '../indexer/amsterdam-chain.ts';
import { type NodeProxy, startNodeProxy } from '../indexer/node-proxy.ts';
import { servedTestChain } from '../indexer/support.ts';
import { indexIn, servedChain, startTestDataService, type TestDataService } from '../lab/data-service.ts';
import { type Client, client } from '../support/contract-client.ts';
import { eachDatabase } from '../support/databases.ts';
import { pageOf } from '../support/walk.ts';

const TRACING = [
  'trace_block',
  'debug_traceBlockByHash',
  'debug_traceBlockByNumber',
  'debug_traceTransaction',
];

eachDatabase('a chain that crosses the fork Amsterdam, behind a node without traces', databases => {
  let chain: CrossingChain;
  let node: NodeProxy;
  let service: TestDataService;
  let api: Client;

  beforeAll(async () => {
    chain = await startCrossingChain();
    node = await startNodeProxy(chain.rpcUrl, { missing: TRACING });
    const served = servedChain(servedTestChain(node.rpcUrl), chain.folder);
    const backends = [indexIn(await databases.create())];
    service = await startTestDataService([], { chains: [{ ...served, backends }] });
    api = client(service.url);
  });
  afterAll(async () => {
    await service?.close();
    await node?.stop();
    await chain?.stop();
  });

  const internalOf = (path: string) => api.get(`/explorer/${path}internal-transactions`);

  test('lists the coins that contracts sent since the fork, without kind and gas', async () => {
    const lists = [
      ['', 4],
      [`transactions/${chain.splits.after}/`, 3],
      [`blocks/${chain.fork}/`, 3],
      [`addresses/${PAYEES[2]}/`, 2],
    ] as const;

    for (const [path, count] of lists) {
      const { status, body } = await internalOf(path);
      const { items } = pageOf(body);
      expect([path, status, items.length]).toEqual([path, 200, count]);
      for (const item of items) expect(item).toMatchObject({ type: null, gas_limit: null, success: true });
    }
  });

  test('has no internal transactions from before it', async () => {
    for (const path of [`transactions/${chain.splits.before}/`, `blocks/${chain.fork - 1}/`]) {
      expect(await internalOf(path)).toMatchObject({ status: 501 });
    }
  });

  test('shows the header of the fork', async () => {
    const [before, after] = [chain.fork - 1, chain.fork].map(number => api.get(`/explorer/blocks/${number}`));

    expect((await before)?.body).toMatchObject({ slot_number: null, block_access_list_hash: null });
    expect((await after)?.body).toMatchObject({ slot_number: expect.any(Number) });
  });
});
