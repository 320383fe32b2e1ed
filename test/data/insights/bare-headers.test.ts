import { afterAll, beforeAll, expect, test } from 'vitest';
import { startNodeProxy } from '../../indexer/node-proxy.ts';
import { CHAIN_ID, servedTestChain, startTestChain } from '../../indexer/support.ts';
import { startTestDataService } from '../../lab/data-service.ts';
import { record } from '../../lab/json.ts';
import { type Client, client } from '../../support/contract-client.ts';

const LEFT_OUT = ['size', 'sha3Uncles', 'transactionsRoot', 'receiptsRoot', 'logsBloom'];

let api: Client;
const running = new AsyncDisposableStack();

beforeAll(async () => {
  const chain = await startTestChain();
  running.defer(() => chain.stop());
  await chain.mine();
  const node = await startNodeProxy(chain.rpcUrl, {
    change: (method, result) =>
      method === 'eth_getBlockByNumber' && result !== null
        ? Object.fromEntries(Object.entries(record(result)).filter(([name]) => !LEFT_OUT.includes(name)))
        : result,
  });
  running.defer(() => node.stop());
  const service = await startTestDataService([servedTestChain(node.rpcUrl)]);
  running.defer(() => service.close());
  api = client(service.url);
});

afterAll(() => running.disposeAsync());

test('a block whose node omits its size, roots and bloom has null for them', async () => {
  const { status, body } = await api.get(
    `/insights/v1/blocks?chain_id=${CHAIN_ID}&sort_by=size&sort_order=asc`,
  );

  expect(status).toBe(200);
  const bare = {
    size: null,
    sha3_uncles: null,
    transactions_root: null,
    receipts_root: null,
    logs_bloom: null,
  };
  expect(body).toMatchObject({
    data: [
      { block_number: 0, ...bare },
      { block_number: 1, ...bare },
    ],
  });
});

test('a sum of such blocks’ sizes is null', async () => {
  const { body } = await api.get(
    `/insights/v1/blocks?chain_id=${CHAIN_ID}&aggregate=count()%20as%20blocks&aggregate=sum(size)%20as%20size`,
  );

  expect(record(body).aggregations).toMatchObject([{ blocks: 2, size: null }]);
});
