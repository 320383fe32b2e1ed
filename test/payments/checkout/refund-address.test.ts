import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { expect } from 'vitest';
import { transaction } from '#db/transaction.ts';
import { sessionStore } from '#payments/sessions/session-store.ts';
import { list, record, text } from '../../lab/json.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import {
  aPayment,
  errorOf,
  type Merchant,
  PLACE,
  RECIPIENT,
  someHash,
  TOKEN,
} from '../../support/payments-api.ts';

const FIRST = `0x${'d1'.repeat(20)}`;
const SECOND = `0x${'d2'.repeat(20)}`;
const STRANGER = privateKeyToAccount(generatePrivateKey());

eachPaymentsApi('the refund address of a checkout', apiTest => {
  const test = apiTest
    /** A checkout that a wallet has paid. */
    .extend('paid', ({ api }) => async (merchant: Merchant) => {
      const wallet = privateKeyToAccount(generatePrivateKey());
      const { body } = await merchant.post('/api/v1/checkout-sessions', { ...PLACE, amount: '1000' });
      const id = text(record(body).id);
      const sender = wallet.address.toLowerCase();
      await api.settle(async settle => {
        const payment = aPayment({ amount: 1_000n, blockTime: api.clock.now(), sender });
        const seen = { matchedBy: 'amount', confirmations: 1 } as const;
        await settle.complete((await settle.recordTransfer({ id }, payment, seen)).id);
      });
      const path = `/api/v1/pay/sessions/${id}/refund-address`;
      const state = (statement: object) => api.payer.post(path, statement);
      const messageFor = async (address: string, by = wallet) => {
        const answer = await api.payer.get(`${path}?address=${address}&wallet_address=${by.address}`);
        return text(record(answer.body).message);
      };
      const signed = async (address: string, by = wallet) => ({
        address,
        wallet_address: by.address,
        signature: await by.signMessage({ message: await messageFor(address, by) }),
      });
      const destinations = async () =>
        list(record((await merchant.get(`/api/v1/refunds/options?session_id=${id}`)).body).destinations).map(
          record,
        );
      return { id, path, wallet, sender, state, messageFor, signed, destinations };
    });

  test('stated with the signature of the wallet that paid is proved, and where a refund goes', async ({
    api,
    paid,
  }) => {
    const merchant = await api.merchant();
    const { id, path, state, signed, messageFor, destinations, sender, wallet } = await paid(merchant);

    const message = await messageFor(FIRST);
    const stated = await state(await signed(FIRST));
    const refund = await merchant.post('/api/v1/refunds', { session_id: id });

    expect(message.split('\n')[1]).toBe(wallet.address);
    expect(message).toMatch(/^Refund what I paid to Acme .* to 0x[dD]1.*\. Signing costs nothing/m);
    expect(stated.body).toMatchObject({
      object: 'refund_address',
      session_id: id,
      address: FIRST,
      proved: true,
      previous_address: null,
      stated_at: new Date(api.clock.now()).toISOString(),
    });
    expect((await api.payer.get(path)).body).toEqual(stated.body);
    expect(await destinations()).toMatchObject([
      { address: FIRST, source: 'payer_signature', proved: true, warning: null },
      { address: sender, source: 'sender' },
    ]);
    expect(refund.body).toMatchObject({ destination_address: FIRST, destination_source: 'payer_signature' });
  });

  test('is changed by another signature only, and the change is shown', async ({ api, paid }) => {
    const merchant = await api.merchant();
    const { state, signed, destinations } = await paid(merchant);
    const first = await signed(FIRST);
    await state(first);

    const unproved = await state({ address: SECOND });
    const changed = await state(await signed(SECOND));
    const replayed = await state(first);

    expect(errorOf(unproved)).toBe('400 invalid_status_transition');
    expect(changed.body).toMatchObject({ address: SECOND, proved: true, previous_address: FIRST });
    expect(errorOf(replayed)).toBe('400 invalid_field_value signature');
    expect((await destinations())[0]).toMatchObject({ address: SECOND, previous_address: FIRST });
  });

  test('stated without a signature is not proved, and the merchant types it again', async ({ api, paid }) => {
    const merchant = await api.merchant();
    const { id, state, signed, destinations } = await paid(merchant);

    await state({ address: SECOND });
    const stated = await state({ address: FIRST });
    const [known] = await destinations();
    const body = { session_id: id, amount: '1', destination_address: FIRST };
    const once = await merchant.post('/api/v1/refunds', body);
    const twice = await merchant.post('/api/v1/refunds', { ...body, destination_confirmation: FIRST });
    const proved = await state(await signed(FIRST));

    expect(stated.body).toMatchObject({ address: FIRST, proved: false, previous_address: SECOND });
    expect(known).toMatchObject({ address: FIRST, source: 'payer', warning: expect.any(String) });
    expect(errorOf(once)).toBe('400 missing_required_field destination_confirmation');
    expect(twice.body).toMatchObject({ destination_source: 'payer', destination_proved: false });
    expect(proved.body).toMatchObject({ address: FIRST, proved: true });
  });

  test('is not proved by a wallet that did not pay, or by the signature of another text', async ({
    api,
    paid,
  }) => {
    const merchant = await api.merchant();
    const { state, signed, wallet } = await paid(merchant);
    const other = await paid(merchant);

    expect(errorOf(await state(await signed(FIRST, STRANGER)))).toBe(
      '400 invalid_field_value wallet_address',
    );
    expect(errorOf(await state({ ...(await signed(FIRST)), address: SECOND }))).toBe(
      '400 invalid_field_value signature',
    );
    const elsewhere = await wallet.signMessage({ message: await other.messageFor(FIRST, wallet) });
    expect(
      errorOf(await state({ address: FIRST, wallet_address: wallet.address, signature: elsewhere })),
    ).toBe('400 invalid_field_value signature');
    const { wallet_address: _, ...unnamed } = await signed(FIRST);
    expect(errorOf(await state(unnamed))).toBe('400 missing_required_field wallet_address');
  });

  test('can be stated once money has arrived, and is no address at which it is lost', async ({
    api,
    paid,
  }) => {
    const merchant = await api.merchant();
    const { body } = await merchant.post('/api/v1/checkout-sessions', { ...PLACE, amount: '1000' });
    const unpaid = `/api/v1/pay/sessions/${text(record(body).id)}/refund-address`;
    const { state } = await paid(merchant);

    expect(errorOf(await api.payer.post(unpaid, { address: FIRST }))).toBe('400 invalid_status_transition');
    expect((await api.payer.get(unpaid)).body).toMatchObject({ address: null, message: null });
    for (const address of [`0x${'0'.repeat(40)}`, `0x${'f'.repeat(39)}e`, TOKEN, RECIPIENT])
      expect(errorOf(await state({ address }))).toBe('400 invalid_field_value address');
    const missing = '/api/v1/pay/sessions/cs_000000000000000000000000/refund-address';
    expect(errorOf(await api.payer.get(missing))).toBe('404 resource_not_found');
  });

  test('is not the deposit address of the checkout, nor is that of a refund', async ({ api }) => {
    const merchant = await api.merchant();
    const recipient_address = someHash().slice(0, 42);
    const created = { ...PLACE, recipient_address, amount: '1000', payment_method: 'deposit_address' };
    const session = record((await merchant.post('/api/v1/checkout-sessions', created)).body);
    const [session_id, address] = [text(session.id), text(session.deposit_address)];
    await api.settle(async settle => {
      const payment = aPayment({
        amount: 1_000n,
        blockTime: api.clock.now(),
        recipient: address.toLowerCase(),
      });
      const seen = { matchedBy: 'deposit_address', confirmations: 1 } as const;
      await settle.complete((await settle.recordTransfer({ id: session_id }, payment, seen)).id);
    });

    const stated = await api.payer.post(`/api/v1/pay/sessions/${session_id}/refund-address`, { address });
    const typed = { session_id, destination_address: address, destination_confirmation: address };
    const refund = await merchant.post('/api/v1/refunds', typed);

    expect(errorOf(stated)).toBe('400 invalid_field_value address');
    expect(errorOf(refund)).toBe('400 invalid_field_value destination_address');
  });

  test('is not proved by a wallet that signed or sent money only after another one', async ({ api }) => {
    const merchant = await api.merchant();
    const recipient_address = someHash().slice(0, 42);
    const created = { ...PLACE, recipient_address, amount: '1000', payment_method: 'deposit_address' };
    const session = record((await merchant.post('/api/v1/checkout-sessions', created)).body);
    const [session_id, recipient] = [text(session.id), text(session.deposit_address).toLowerCase()];
    const path = `/api/v1/pay/sessions/${session_id}/refund-address`;
    const pay = (amount: bigint, sender: string) =>
      api.settle(async settle => {
        const payment = aPayment({ amount, blockTime: api.clock.now(), recipient, sender });
        const seen = { matchedBy: 'deposit_address', confirmations: 1 } as const;
        await settle.complete((await settle.recordTransfer({ id: session_id }, payment, seen)).id);
      });
    const state = async () => {
      const by = STRANGER.address;
      const { body } = await api.payer.get(`${path}?address=${FIRST}&wallet_address=${by}`);
      const signature = await STRANGER.signMessage({ message: text(record(body).message) });
      return api.payer.post(path, { address: FIRST, wallet_address: by, signature });
    };
    const sources = async () =>
      list(record((await merchant.get(`/api/v1/refunds/options?session_id=${session_id}`)).body).destinations)
        .map(record)
        .map(({ source, proved }) => [source, proved]);

    await pay(1n, STRANGER.address.toLowerCase());
    const first = await state();
    api.clock.advance(1_000);
    await pay(600n, `0x${'c1'.repeat(20)}`);
    await transaction(api.db, handle =>
      sessionStore(handle, api.seals).bindWallet(session_id, STRANGER.address.toLowerCase(), api.clock.now()),
    );

    expect(first.body).toMatchObject({ proved: true });
    expect((await sources()).filter(([, proved]) => proved)).toEqual([]);
    expect(errorOf(await merchant.post('/api/v1/refunds', { session_id }))).toBe(
      '400 missing_required_field destination_address',
    );
    expect(errorOf(await state())).toBe('400 invalid_field_value wallet_address');
  });
});
