import { getAddress, numberToHex } from 'viem';
import { expect, test } from 'vitest';
import { checkedProofFile } from '#evm/proofs/proof-file.ts';
import { startNodeProxy } from '../../indexer/node-proxy.ts';
import { clientOf, startTestChain } from '../../indexer/support.ts';
import { record, text } from '../../lab/json.ts';
import { sqliteDatabase } from '../../support/databases.ts';
import {
  aPayment,
  errorOf,
  PLACE,
  RECIPIENT,
  someHash,
  startPaymentsApi,
  TEST_CHAIN,
} from '../../support/payments-api.ts';

test('a payment has the proof of its block, while its node has the block and does not contradict it', async () => {
  await using stack = new AsyncDisposableStack();
  const chain = await startTestChain({ chainId: TEST_CHAIN });
  stack.defer(chain.stop);
  const sent = await chain.send(1, { to: getAddress(RECIPIENT), value: 5n });
  await chain.mine();
  const block = await chain.client.request({
    method: 'eth_getBlockByNumber',
    params: [numberToHex(1), false],
  });
  let isLying = false;
  const node = await startNodeProxy(chain.rpcUrl, {
    change: (method, result) =>
      isLying && method === 'eth_getBlockReceipts' && Array.isArray(result)
        ? result.map(receipt => ({ ...receipt, status: '0x0' }))
        : result,
  });
  stack.defer(node.stop);
  const client = clientOf(node.rpcUrl, TEST_CHAIN);
  const database = await sqliteDatabase('payments');
  stack.defer(database.remove);
  const api = stack.use(await startPaymentsApi(database.options, {}, { clientOf: () => client }));
  const merchant = await api.merchant();
  /** The address of the proof of a payment that is in a block of the chain. */
  async function paid(txHash: string, blockHash: string): Promise<string> {
    const { body } = await merchant.post('/api/v1/checkout-sessions', { ...PLACE, amount: '2000000' });
    const session = record(body);
    const transfer = aPayment({
      amount: BigInt(text(session.amount_due)),
      blockTime: api.clock.now(),
      blockNumber: 1,
      txHash,
      blockHash,
    });
    const how = { matchedBy: 'amount', confirmations: 1 } as const;
    const { id } = await api.settle(settled =>
      settled.recordTransfer({ id: text(session.id) }, transfer, how),
    );
    return `/api/v1/transactions/${id}/proof`;
  }
  const path = await paid(sent.hash, text(block?.hash));

  const { status, body } = await merchant.get(path);

  expect(status).toBe(200);
  expect(checkedProofFile(body)).toMatchObject({
    chainId: TEST_CHAIN,
    transactionHash: sent.hash,
    blockHash: block?.hash,
    receipt: { isSuccess: true },
  });
  const hidden = await (await api.merchant()).get(path);
  expect(errorOf(hidden)).toBe('404 resource_not_found');
  const gone = await merchant.get(await paid(someHash(), someHash()));
  expect(errorOf(gone)).toBe('501 internal_error');
  isLying = true;
  const contradicted = await merchant.get(path);
  expect(errorOf(contradicted)).toBe('501 internal_error');
  expect(record(record(contradicted.body).error).message).toMatch(/contradicts the hash of the block/);
  await node.stop();
  expect(errorOf(await merchant.get(path))).toBe('503 internal_error');
});
