import type { Address } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deriveAccounts } from '#devnet/chain/accounts.ts';
import { createLogger } from '#lib/logger.ts';
import { createChainClient } from '#node/client.ts';
import { record, text } from '../../lab/json.ts';
import { startPaymentChain, type TestPaymentChain } from '../../lab/payment-chain.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { deployContractWallet } from '../../support/contract-wallet.ts';
import { sqliteDatabase } from '../../support/databases.ts';
import { manualClock } from '../../support/manual-clock.ts';
import {
  errorOf,
  type Merchant,
  type PaymentsApi,
  PLACE,
  startPaymentsApi,
  TEST_CHAIN,
} from '../../support/payments-api.ts';

const PATH = '/api/v1/recipients';
const REFUSED = '400 invalid_field_value signature';
const accounts = deriveAccounts();
const keyHolder = accounts.signer(5);

let chain: TestPaymentChain;
let api: PaymentsApi;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  const clock = manualClock();
  chain = stack.use(await startPaymentChain({ clock, chainId: TEST_CHAIN }));
  const database = await sqliteDatabase('payments');
  stack.defer(database.remove);
  const log = createLogger({ level: 'silent' });
  const client = createChainClient({ id: TEST_CHAIN, rpcUrls: [chain.rpcUrl], timeoutMs: PATIENCE_MS, log });
  const clientOf = (chainId: number) => (chainId === TEST_CHAIN ? client : undefined);
  api = stack.use(await startPaymentsApi(database.options, {}, { clientOf, clock }));
});
afterAll(() => stack.disposeAsync());

const newWallet = () => deployContractWallet(chain, keyHolder.address);

async function named(merchant: Merchant, address: Address) {
  const made = await merchant.post(PATH, { chain_id: TEST_CHAIN, address });
  const { id, verification_message } = record(made.body);
  return { path: `${PATH}/${text(id)}`, message: text(verification_message) };
}

async function sessionAt(merchant: Merchant, recipient_address: Address) {
  const terms = { ...PLACE, recipient_address, amount: '2000000' };
  return record((await merchant.post('/api/v1/checkout-sessions', terms)).body);
}

test('a contract wallet is verified as a recipient by the signature of its key holder', async () => {
  const [first, owner] = [await api.merchant(), await api.merchant()];
  const wallet = await newWallet();
  await sessionAt(first, wallet);
  const { path, message } = await named(owner, wallet);
  const before = await sessionAt(owner, wallet);

  const verified = await owner.post(`${path}/verify`, {
    signature: await keyHolder.signMessage({ message }),
  });

  expect(verified.body).toMatchObject({ address: wallet, verified: true, verified_by: 'signature' });
  const [after, ofFirst] = [await sessionAt(owner, wallet), await sessionAt(first, wallet)];
  expect([before.payment_uri, after.payment_uri, ofFirst.payment_uri]).toEqual([
    null,
    expect.stringContaining(wallet),
    null,
  ]);
});

test('a contract wallet is not verified by another account, another text, a used text or no signature', async () => {
  const [ours, theirs] = [await api.merchant(), await api.merchant()];
  const wallet = await newWallet();
  const { path, message } = await named(ours, wallet);
  const { message: theirMessage } = await named(theirs, wallet);
  const used = await keyHolder.signMessage({ message });

  const signatures = [
    await accounts.signer(6).signMessage({ message }),
    await keyHolder.signMessage({ message: theirMessage }),
    `0x${'12'.repeat(65)}`,
  ];
  const answers = [];
  for (const signature of signatures) answers.push(await ours.post(`${path}/verify`, { signature }));
  const unproved = await ours.get(path);
  await ours.post(`${path}/verify`, { signature: used });
  answers.push(await ours.post(`${path}/verify`, { signature: used }));

  expect(answers.map(errorOf)).toEqual([REFUSED, REFUSED, REFUSED, REFUSED]);
  expect(unproved.body).toMatchObject({ verified: false });
  expect((await ours.get(path)).body).toMatchObject({ verified: true });
});

test('the key holder’s signature verifies neither an address without code nor a contract that is no wallet', async () => {
  const merchant = await api.merchant();

  for (const address of [`0x${'c0'.repeat(20)}`, chain.token] as const) {
    const { path, message } = await named(merchant, address);
    const signature = await keyHolder.signMessage({ message });

    expect(errorOf(await merchant.post(`${path}/verify`, { signature }))).toBe(REFUSED);
  }
});
