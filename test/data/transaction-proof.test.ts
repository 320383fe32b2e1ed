import { expect, onTestFinished } from 'vitest';
import { ZERO_ADDRESS } from '#evm/address.ts';
import { checkedProofFile } from '#evm/proofs/proof-file.ts';
import type { ChainView } from '../devnet/chain-view.ts';
import { startNodeProxy } from '../indexer/node-proxy.ts';
import { servedTestChain, startTestChain } from '../indexer/support.ts';
import { startTestDataService } from '../lab/data-service.ts';
import { record } from '../lab/json.ts';
import { type Client, client } from '../support/contract-client.ts';
import { test } from '../support/served-devnet.ts';

let api: Client;
let view: ChainView;

// Fills the index here, because the time of a test is limited.
test.beforeAll(({ api: sharedApi, view: sharedView }) => {
  [api, view] = [sharedApi, sharedView];
});

test('the proof of a transaction shows its block and its logs, and matches what the explorer says', async ({
  chain,
}) => {
  const sample = view.transactions.filter((_, at) => at % 40 === 0);
  expect(sample.length).toBeGreaterThan(5);
  for (const { hash, isSuccess, logs } of sample) {
    const { status, body } = await api.get(`/explorer/transactions/${hash}/proof`);
    expect(status).toBe(200);
    const proof = checkedProofFile(body);
    const known = record((await api.get(`/explorer/transactions/${hash}`)).body);

    expect(proof).toMatchObject({ chainId: chain.id, transactionHash: hash });
    const shown = [Number(proof.blockNumber), record(body).transaction_index];
    expect(shown).toEqual([known.block_number, known.position]);
    expect(proof.receipt.isSuccess).toBe(isSuccess);
    expect(proof.receipt.logs).toEqual(logs.map(({ address, topics, data }) => ({ address, topics, data })));
  }
});

test('a pending transaction has no proof, and a block that its node contradicts gives none', async () => {
  const chain = await startTestChain();
  onTestFinished(() => chain.stop());
  const { hash } = await chain.send(1, { to: ZERO_ADDRESS, value: 5n });
  await chain.mine();
  let isLying = false;
  const node = await startNodeProxy(chain.rpcUrl, {
    change: (method, result) =>
      isLying && method === 'eth_getBlockReceipts' && Array.isArray(result)
        ? result.map(receipt => ({ ...receipt, status: '0x0' }))
        : result,
  });
  onTestFinished(() => node.stop());
  const service = await startTestDataService([servedTestChain(node.rpcUrl)]);
  onTestFinished(() => service.close());
  const { get } = client(service.url);
  const pending = await chain.send(1, { to: ZERO_ADDRESS, value: 5n });

  isLying = true;
  expect(await get(`/explorer/transactions/${hash}/proof`)).toMatchObject({
    status: 502,
    body: { message: expect.stringContaining('contradicts') },
  });
  isLying = false;
  expect(await get(`/explorer/transactions/${hash}/proof`)).toMatchObject({ status: 200 });
  expect(await get(`/explorer/transactions/${pending.hash}/proof`)).toMatchObject({ status: 404 });
});
