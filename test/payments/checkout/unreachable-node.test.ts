import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { test as base, expect } from 'vitest';
import { createLogger } from '#lib/logger.ts';
import { createChainClient } from '#node/client.ts';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import { cursorStore } from '#payments/store/cursor-store.ts';
import { record, text } from '../../lab/json.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { sqliteDatabase } from '../../support/databases.ts';
import { type PaymentsApi, PLACE, startPaymentsApi, TEST_CHAIN } from '../../support/payments-api.ts';

/** A loopback port without a listener. */
const NOBODY = 'http://127.0.0.1:1';
/** A signature that recovers to no known account, so that only a contract could judge it. */
const UNKNOWN = `0x${'12'.repeat(65)}`;

// biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of used fixtures from the pattern.
const test = base.extend('api', { scope: 'file' }, async ({}, { onCleanup }): Promise<PaymentsApi> => {
  const database = await sqliteDatabase('payments');
  const log = createLogger({ level: 'silent' });
  const client = createChainClient({ id: TEST_CHAIN, rpcUrls: [NOBODY], timeoutMs: PATIENCE_MS, log });
  const api = await startPaymentsApi(database.options, {}, { clientOf: () => client });
  onCleanup(async () => {
    await api[Symbol.asyncDispose]();
    await database.remove();
  });
  return api;
});

test('the signature of a payer’s wallet that only a contract can verify is a 503', async ({ api }) => {
  const merchant = await api.merchant();
  const account = privateKeyToAccount(generatePrivateKey());
  const opened = await merchant.post('/api/v1/checkout-sessions', { ...PLACE, amount: '2000000' });
  const path = `/api/v1/pay/sessions/${text(record(opened.body).id)}`;

  const refused = await api.payer.post(`${path}/wallet`, { address: account.address, signature: UNKNOWN });
  const { body } = await api.payer.get(`${path}?wallet_address=${account.address}`);
  const signature = await account.signMessage({ message: text(record(body).wallet_message) });
  const bound = await api.payer.post(`${path}/wallet`, { address: account.address, signature });

  expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '5']);
  expect(record(refused.body).error).toMatchObject({
    code: 'internal_error',
    message: 'The signature cannot be verified now, because no node of its chain answers',
  });
  expect(bound.status).toBe(200);
});

test('a contract can sign for a session in the native coin once coins that it sends are seen', async ({
  api,
}) => {
  const merchant = await api.merchant();
  const terms = { ...PLACE, token_address: NATIVE_COIN, amount: '2000000' };
  const opened = await merchant.post('/api/v1/checkout-sessions', terms);
  const path = `/api/v1/pay/sessions/${text(record(opened.body).id)}/wallet`;
  const bind = async () => {
    const { address } = privateKeyToAccount(generatePrivateKey());
    return (await api.payer.post(path, { address, signature: UNKNOWN })).status;
  };
  await api.looked();

  const before = await bind();
  const store = cursorStore(api.db);
  const { blockNumber = 0 } = (await store.find(TEST_CHAIN)) ?? {};
  await store.setCoinLogs(TEST_CHAIN, { from: blockNumber + 2, blockNumber });
  const early = await bind();
  await store.set(TEST_CHAIN, {
    blockNumber: blockNumber + 1,
    scannedAt: api.clock.now(),
    headTime: api.clock.now(),
  });

  // Only a contract is asked over the network.
  expect([before, early, await bind()]).toEqual([400, 400, 503]);
});

test('the signature of a recipient that only a contract can verify is a 503', async ({ api }) => {
  const merchant = await api.merchant();
  const { address } = privateKeyToAccount(generatePrivateKey());
  const named = await merchant.post('/api/v1/recipients', { chain_id: TEST_CHAIN, address });
  const path = `/api/v1/recipients/${text(record(named.body).id)}/verify`;

  expect((await merchant.post(path, { signature: UNKNOWN })).status).toBe(503);
});
