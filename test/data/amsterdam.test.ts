import { numberToHex } from 'viem';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type CrossingChain, PAYEES, startCrossingChain } from '../indexer/amsterdam-chain.ts';
import { type NodeProxy, startNodeProxy, TRACING } from '../indexer/node-proxy.ts';
import { CHAIN_ID, servedTestChain, startTestChain } from '../indexer/support.ts';
import { indexIn, servedChain, startTestDataService, type TestDataService } from '../lab/data-service.ts';
import { list, record } from '../lab/json.ts';
import { type Client, client } from '../support/contract-client.ts';
import { eachDatabase } from '../support/databases.ts';
import { pageOf } from '../support/walk.ts';

const UNKNOWN_TYPE = 0x6f;

/** The node's result with fields that no fork has yet, and every transaction of a type of its own. */
function withUnknownParts(method: string, result: unknown): unknown {
  const strange = (part: unknown) => ({
    ...record(part),
    type: numberToHex(UNKNOWN_TYPE),
    frames: [{ mode: 1 }],
  });
  if (method === 'eth_getTransactionReceipt' && result !== null) return strange(result);
  if (!/^eth_getBlockBy/.test(method) || result === null) return result;
  const { transactions, ...header } = record(result);
  const all = list(transactions).map(one => (typeof one === 'string' ? one : strange(one)));
  return {
    ...header,
    inclusionListRoot: `0x${'1'.repeat(64)}`,
    gasByKind: ['0x1', '0x2'],
    transactions: all,
  };
}

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

  test('reads fields and types of transactions that it does not know', async () => {
    const strange = await startNodeProxy(chain.rpcUrl, { change: withUnknownParts });
    const served = await startTestDataService([servedTestChain(strange.rpcUrl)]);
    onTestFinished(async () => {
      await served.close();
      await strange.stop();
    });
    const { get } = client(served.url);
    const hash = chain.splits.after;

    const block = await get(`/explorer/blocks/${chain.fork}`);
    const transaction = await get(`/explorer/transactions/${hash}`);
    const { body } = await get(`/insights/v1/transactions?chain_id=${CHAIN_ID}&filter_hash=${hash}`);

    expect(block).toMatchObject({ status: 200, body: { transaction_count: 2 } });
    expect(transaction).toMatchObject({ status: 200, body: { type: UNKNOWN_TYPE, status: 'ok' } });
    expect(body).toMatchObject({ data: [{ hash, transaction_type: UNKNOWN_TYPE }] });
  });

  test('shows the header of the fork', async () => {
    const before = await api.get(`/explorer/blocks/${chain.fork - 1}`);
    const after = await api.get(`/explorer/blocks/${chain.fork}`);

    expect(before.body).toMatchObject({ slot_number: null, block_access_list_hash: null });
    expect(after.body).toMatchObject({
      slot_number: expect.any(Number),
      block_access_list_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    });
  });
});

test('before the fork, a node without traces gives no empty lists of internal transactions, also behind an empty block', async () => {
  const chain = await startTestChain();
  onTestFinished(() => chain.stop());
  await chain.send(1, { to: PAYEES[0], value: 5n });
  await chain.mine();
  await chain.mine();
  const node = await startNodeProxy(chain.rpcUrl, { missing: TRACING });
  onTestFinished(() => node.stop());
  const service = await startTestDataService([servedTestChain(node.rpcUrl)]);
  onTestFinished(() => service.close());
  const { get } = client(service.url);

  for (const path of ['', `addresses/${PAYEES[0]}/`]) {
    expect(await get(`/explorer/${path}internal-transactions`)).toMatchObject({ status: 501 });
  }
});
