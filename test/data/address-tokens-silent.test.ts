import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { type NodeProxy, startNodeProxy } from '../indexer/node-proxy.ts';
import { log, servedTestChain, startTestChain } from '../indexer/support.ts';
import { startTestDataService, type TestDataService } from '../lab/data-service.ts';
import { until } from '../lab/until.ts';
import { type Client, client } from '../support/contract-client.ts';
import { type Item, pageOf } from '../support/walk.ts';

const DAY_MS = 86_400_000;

let node: NodeProxy;
let service: TestDataService;
let api: Client;
let callsTakeMs: number;

const chain = await startTestChain();
const owner = chain.accounts.signer(1).address;
const postcards = await chain.deploy('Postcards', ['Postcards', 'POST']);
await chain.mine();
await chain.send(0, postcards.call('mint', [owner]));
await chain.mine();

afterAll(() => chain.stop());

beforeEach(async () => {
  callsTakeMs = 0;
  node = await startNodeProxy(chain.rpcUrl, {
    change: async (method, result) => {
      if (method === 'eth_call') await delay(callsTakeMs);
      return result;
    },
  });
  const served = servedTestChain(node.rpcUrl);
  const lifetimes = { finalMs: DAY_MS, movingMs: DAY_MS, unsettledMs: 50, overrides: {} };
  service = await startTestDataService([served], { log, cache: { maxBytes: 2 ** 20, lifetimes } });
  api = client(service.url);
  return () => service.close();
});

async function firstNft(): Promise<Item | undefined> {
  const { status, body } = await api.get(`/explorer/addresses/${owner}/nft`);
  expect(status).toBe(200);
  return pageOf(body).items[0];
}

test('a slow contract does not block the list: it is answered without metadata and kept only briefly', async () => {
  callsTakeMs = 4_000;
  const silent = await firstNft();
  callsTakeMs = 0;
  const heard = await until(firstNft, item => item?.metadata !== undefined);
  await node.stop();

  expect(silent).toMatchObject({ id: '1', owner: { hash: owner } });
  expect(silent).not.toHaveProperty('metadata');
  expect(heard).toMatchObject({ ...silent, metadata: { name: 'Postcard #1' } });
});

test('without its node the list is answered and the single record is not', async () => {
  await node.stop();

  const item = await firstNft();
  const record = await api.get(`/explorer/tokens/${postcards.address}/instances/1`);

  expect(item).toMatchObject({ id: '1', value: '1', token: { symbol: 'POST' } });
  expect(item).not.toHaveProperty('metadata');
  expect(record.status).toBe(502);
});
