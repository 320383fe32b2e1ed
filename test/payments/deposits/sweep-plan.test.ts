import { getAddress, parseEther } from 'viem';
import { test as base, expect } from 'vitest';
import { execute } from '#db/query.ts';
import { lowerCase } from '#evm/address.ts';
import { depositAddressStore } from '#payments/deposits/deposit-address-store.ts';
import { depositListing } from '#payments/deposits/deposit-listing.ts';
import { NATIVE_COIN, paymentChains } from '#payments/model/payment-chain.ts';
import { startDepositChain } from '../../deposits/deposit-chain.ts';
import { clientOf } from '../../indexer/support.ts';
import { CHAIN_KINDS } from '../../lab/chain-kind.ts';
import { list, record, text } from '../../lab/json.ts';
import { sqliteDatabase } from '../../support/databases.ts';
import { errorOf, someHash, startPaymentsApi } from '../../support/payments-api.ts';

const PATH = '/api/v1/deposit-addresses/sweep';

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are used.
  .extend('chain', { scope: 'file' }, async ({}, { onCleanup }) => {
    const chain = await startDepositChain(CHAIN_KINDS[0]);
    onCleanup(() => chain.stop());
    return chain;
  })
  .extend('api', { scope: 'file' }, async ({ chain }, { onCleanup }) => {
    const stack = new AsyncDisposableStack();
    const { chainId: id, token } = chain;
    const database = await sqliteDatabase('payments');
    stack.defer(database.remove);
    const client = clientOf(chain.rpcUrl, id);
    const tokens = [
      { address: NATIVE_COIN, symbol: 'ETH', decimals: 18 },
      { address: token, symbol: 'USDS', decimals: 6 },
    ];
    const chains = paymentChains([
      {
        id,
        name: 'Local',
        mode: 'test',
        tokens,
        confirmations: 1,
        depositAddresses: {},
        explorerUrl: undefined,
      },
    ]);
    onCleanup(() => stack.disposeAsync());
    return stack.use(
      await startPaymentsApi(
        database.options,
        {},
        { chains, clientOf: chainId => (chainId === id ? client : undefined) },
      ),
    );
  })
  .extend('shop', ({ api }) => api.merchant())
  .extend('recipient', ({ task: _ }) => getAddress(someHash().slice(0, 42)))
  /** A session with a deposit address that holds an amount, of which we know, and that has ended unless it is kept open. */
  .extend('held', ({ api, chain, shop, recipient }) => {
    return async (amount: bigint, { token = chain.token as string, isOpen = false } = {}) => {
      api.clock.advance(1);
      const { body } = await shop.post('/api/v1/checkout-sessions', {
        chain_id: chain.chainId,
        token_address: token,
        recipient_address: recipient,
        amount: '1000',
        payment_method: 'deposit_address',
      });
      const { id, deposit_address } = record(body);
      const address = getAddress(text(deposit_address));
      if (token === NATIVE_COIN) await chain.send({ from: 1, to: address, value: amount });
      else await chain.pay({ from: 1, to: address, amount });
      await chain.mine();
      if (!isOpen) await shop.post(`/api/v1/checkout-sessions/${text(id)}/expire`);
      await execute(api.db, "update deposit_addresses set amount_received = '0599999' where address = ?", [
        address.toLowerCase(),
      ]);
      return address;
    };
  });

test('any account sends the transactions of a plan, and the recipient gets what it says', async ({
  chain,
  shop,
  recipient,
  held,
}) => {
  const tokens = [await held(700n), await held(800n)];
  const coins = await held(parseEther('2'), { token: NATIVE_COIN });
  const open = await held(900n, { isOpen: true });

  const { status, body } = await shop.post(PATH, { chain_id: chain.chainId });
  const { transactions, ...rest } = record(body);
  const [only, ...others] = list(transactions).map(record);
  const { to, data, value, gas, fee, items } = only ?? {};
  const mined = await chain.transact({ to: lowerCase(text(to)), data: lowerCase(text(data)) });

  expect([status, others, value]).toEqual([200, [], '0']);
  expect(rest).toMatchObject({
    object: 'sweep_plan',
    chain_id: chain.chainId,
    left_out: [],
    has_more: false,
  });
  expect(items).toEqual([
    { address: tokens[0], token_address: chain.token, amount: '700' },
    { address: tokens[1], token_address: chain.token, amount: '800' },
    { address: coins, token_address: NATIVE_COIN, amount: parseEther('2').toString() },
  ]);
  expect(BigInt(text(fee))).toBe(BigInt(Number(gas)) * BigInt(text(rest.gas_price)));
  expect(mined.isSuccess).toBe(true);
  expect(await chain.balance(chain.token, recipient)).toBe(1_500n);
  expect(await chain.balance(null, recipient)).toBe(parseEther('2'));
  expect(await chain.balance(chain.token, open)).toBe(900n);
});

test('what is not worth its sweep is left out, and says why', async ({ chain, shop, held }) => {
  const open = await held(900n, { isOpen: true });
  const little = await held(49n);
  const enough = await held(50n);
  const dust = await held(3n, { token: NATIVE_COIN });
  const named = { chain_id: chain.chainId, addresses: [open, little, enough, dust] };
  const nothing = await held(0n);
  const minimums = [{ token_address: chain.token, amount: '50' }];

  const { body } = await shop.post(PATH, { ...named, minimums });
  const empty = await shop.post(PATH, { chain_id: chain.chainId, addresses: [nothing] });
  const anyway = await shop.post(PATH, {
    chain_id: chain.chainId,
    addresses: [dust.toLowerCase()],
    minimums: [{ token_address: NATIVE_COIN, amount: '0' }],
  });

  const [transaction] = list(record(body).transactions).map(record);
  expect(transaction?.items).toMatchObject([{ address: enough, amount: '50' }]);
  expect(record(body).left_out).toEqual([
    { address: open, token_address: chain.token, reason: 'session_open' },
    { address: little, token_address: chain.token, reason: 'below_minimum' },
    { address: dust, token_address: NATIVE_COIN, reason: 'costs_more' },
  ]);
  expect(record(empty.body)).toMatchObject({ transactions: [], left_out: [{ reason: 'not_payable' }] });
  expect(record(anyway.body).transactions).toMatchObject([{ items: [{ address: dust, amount: '3' }] }]);
});

test('an address of another organization cannot be named', async ({ chain, api, held }) => {
  const address = await held(5n);
  const other = await api.merchant();

  const answer = await other.post(PATH, { chain_id: chain.chainId, addresses: [address] });
  const own = await other.post(PATH, { chain_id: chain.chainId });

  expect(errorOf(answer)).toBe('400 invalid_field_value addresses');
  expect(own.body).toMatchObject({ transactions: [], left_out: [] });
});

test('500 addresses are looked at, and more only if none of these can be swept', async ({
  api,
  chain,
  shop,
  held,
}) => {
  const empty = await held(0n);
  const [known] = await depositListing(api.db).named(shop.owner, chain.chainId, [empty]);
  if (known === undefined) throw new Error('the address was not issued');
  let number = 1_000;
  const insert = async (count: number, createdAt: number) => {
    for (const address of Array.from({ length: count }, () => someHash().slice(0, 42)))
      await depositAddressStore(api.db).insert({ ...known, number: number++, createdAt, address });
  };
  await insert(499, known.createdAt);
  const first = await held(5n);
  await insert(500, api.clock.now() + 1);

  const { body } = await shop.post(PATH, { chain_id: chain.chainId });

  const { transactions, left_out: left, has_more } = record(body);
  expect(transactions).toMatchObject([{ items: [{ address: first, amount: '5' }] }]);
  expect(list(left)).toHaveLength(999);
  expect(has_more).toBe(true);
});
