import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { expect } from 'vitest';
import { record, text } from '../../lab/json.ts';
import { aTransfer } from '../../lab/payments-sessions.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import { errorOf, PLACE } from '../../support/payments-api.ts';

const LINKS = '/api/v1/payment-links';
const SESSIONS = '/api/v1/checkout-sessions';
const TEN_MINUTES_MS = 600_000;
/** Time after a reservation in which a payment of its last block may still be read. */
const ALLOWANCE_MS = 15_000;
const SEEN = { matchedBy: 'wallet', confirmations: 1 } as const;

type Link = Record<string, unknown>;

eachPaymentsApi('a link that reserves uses', apiTest => {
  const test = apiTest
    .extend(
      'linkOf',
      ({ merchant }) =>
        async (max_uses: number | null, changes: object = {}): Promise<Link> => {
          const terms = { name: 'The last one', amount: '12500000', ...PLACE, max_uses, reserve_uses: true };
          return record((await merchant.post(LINKS, { ...terms, ...changes })).body);
        },
    )
    /** Id of a checkout that a payer starts. */
    .extend('started', ({ api }) => async (link: Link): Promise<string> => {
      const { body } = await api.payer.post(`/api/v1/pay/links/${text(link.short_code)}/sessions`, {});
      return text(record(body).id);
    })
    .extend(
      'start',
      ({ api }) =>
        (link: Link) =>
          api.payer.post(`/api/v1/pay/links/${text(link.short_code)}/sessions`, {}),
    )
    .extend(
      'create',
      ({ merchant }) =>
        (link: Link) =>
          merchant.post(SESSIONS, { payment_link_id: link.id }),
    )
    /** A wallet signs for a checkout. */
    .extend('sign', ({ api }) => async (id: string, wallet = aWallet()): Promise<PrivateKeyAccount> => {
      const message = text(record((await api.payer.get(`/api/v1/pay/sessions/${id}`)).body).wallet_message);
      const signature = await wallet.signMessage({ message: message.replace('{address}', wallet.address) });
      const { address } = wallet;
      const answer = await api.payer.post(`/api/v1/pay/sessions/${id}/wallet`, { address, signature });
      expect(answer.status).toBe(200);
      return wallet;
    })
    .extend(
      'state',
      ({ api }) =>
        async (id: string) =>
          record((await api.payer.get(`/api/v1/pay/sessions/${id}/status`)).body),
    )
    .extend(
      'session',
      ({ merchant }) =>
        async (id: string) =>
          record((await merchant.get(`${SESSIONS}/${id}`)).body),
    )
    .extend('pay', ({ merchant }) => async (id: string) => {
      const { body } = await merchant.post(`/api/v1/test/sessions/${id}/simulate`, { outcome: 'completed' });
      return record(body).outcome;
    })
    /** The payment of a checkout is seen in a block. */
    .extend('seePayment', ({ api, session }) => async (id: string, wallet?: PrivateKeyAccount) => {
      const { amount_due, recipient_address } = await session(id);
      const transfer = aTransfer({
        amount: BigInt(text(amount_due)),
        recipient: text(recipient_address),
        ...(wallet && { sender: wallet.address.toLowerCase() }),
      });
      return api.settle(one => one.recordTransfer({ id }, transfer, SEEN));
    })
    .extend(
      'inTime',
      ({ api }) =>
        (ms: number) =>
          new Date(api.clock.now() + ms).toISOString(),
    );

  test('keeps a use for ten minutes for the wallet that signed', async ({
    linkOf,
    started,
    sign,
    state,
    session,
    inTime,
    pay,
  }) => {
    const link = await linkOf(1);
    const [first, second] = [await started(link), await started(link)];

    await sign(first);
    await sign(second);

    const until = inTime(TEN_MINUTES_MS);
    expect(await session(first)).toMatchObject({ use_reserved_until: until });
    expect(await state(first)).toMatchObject({
      use_reserved_until: until,
      accepts_payment: true,
      all_uses_reserved: false,
      next_use_at: null,
    });
    expect(await state(second)).toMatchObject({
      use_reserved_until: null,
      accepts_payment: false,
      all_uses_reserved: true,
      next_use_at: inTime(TEN_MINUTES_MS + ALLOWANCE_MS),
    });
    expect(await pay(second)).toBe('paid_sold_out');
    expect(await pay(first)).toBe('paid');
    expect(await session(first)).toMatchObject({ use_reserved_until: null });
  });

  test('starts no checkout while all uses that are left are reserved', async ({
    merchant,
    linkOf,
    create,
    start,
    inTime,
  }) => {
    const link = await linkOf(2);
    const first = await create(link);
    const second = await create(link);

    const [payer, merchants] = [await start(link), await create(link)];

    expect(record(first.body).use_reserved_until).toBe(inTime(TEN_MINUTES_MS));
    expect(record(second.body).use_reserved_until).toBe(inTime(TEN_MINUTES_MS));
    for (const refused of [payer, merchants]) {
      expect(errorOf(refused)).toBe('400 invalid_status_transition');
      expect(JSON.stringify(refused.body)).toContain(inTime(TEN_MINUTES_MS + ALLOWANCE_MS));
    }
    const { body } = await merchant.get(`${LINKS}/${text(link.id)}`);
    expect(record(body)).toMatchObject({ availability: 'active', reserve_uses: true });
  });

  test('gives a use that was not paid in time to the next wallet, and then the first one is late', async ({
    api,
    linkOf,
    started,
    sign,
    state,
    pay,
  }) => {
    const link = await linkOf(1);
    const [first, second] = [await started(link), await started(link)];
    await sign(first);

    api.clock.advance(TEN_MINUTES_MS + ALLOWANCE_MS - 1);
    expect(await state(second)).toMatchObject({ all_uses_reserved: true });
    api.clock.advance(1);
    expect(await state(second)).toMatchObject({ all_uses_reserved: false });
    await sign(second);

    expect(await state(first)).toMatchObject({ all_uses_reserved: true });
    expect(await pay(first)).toBe('paid_sold_out');
    expect(await pay(second)).toBe('paid');
  });

  test('counts a payment after its reservation while the use is free', async ({
    api,
    linkOf,
    started,
    sign,
    state,
    pay,
  }) => {
    const id = await started(await linkOf(1));
    await sign(id);

    api.clock.advance(TEN_MINUTES_MS + ALLOWANCE_MS);

    expect(await state(id)).toMatchObject({ all_uses_reserved: false });
    expect(await pay(id)).toBe('paid');
  });

  test('keeps the use while a payment that was seen in time is confirmed, and frees it when that fails', async ({
    api,
    linkOf,
    started,
    sign,
    state,
    seePayment,
  }) => {
    const link = await linkOf(1);
    const [first, second] = [await started(link), await started(link)];
    const wallet = await sign(first);
    const payment = await seePayment(first, wallet);

    api.clock.advance(TEN_MINUTES_MS + ALLOWANCE_MS);
    await sign(second);
    expect(await state(second)).toMatchObject({ all_uses_reserved: true, next_use_at: null });

    await api.settle(one => one.fail(payment.id, 'reverted'));
    expect(await state(second)).toMatchObject({ all_uses_reserved: false });
  });

  test('has no reservation for a payment that was seen too late', async ({
    api,
    linkOf,
    started,
    sign,
    state,
    session,
    seePayment,
  }) => {
    const link = await linkOf(1);
    const [first, second] = [await started(link), await started(link)];
    const wallet = await sign(first);
    api.clock.advance(TEN_MINUTES_MS + ALLOWANCE_MS);
    await sign(second);

    const payment = await seePayment(first, wallet);
    await api.settle(one => one.complete(payment.id));

    expect(await session(first)).toMatchObject({ outcome: 'paid_sold_out', use_reserved_until: null });
    expect(await state(second)).toMatchObject({ all_uses_reserved: false });
  });

  test('reserves nothing while another payment of the last use is confirmed', async ({
    api,
    linkOf,
    started,
    sign,
    state,
    session,
    seePayment,
  }) => {
    const link = await linkOf(1);
    const [paying, second] = [await started(link), await started(link)];
    const payment = await seePayment(paying);

    await sign(second);

    expect(await state(second)).toMatchObject({ use_reserved_until: null, all_uses_reserved: true });
    await api.settle(one => one.complete(payment.id));
    expect(await session(paying)).toMatchObject({ outcome: 'paid' });
    expect(await session(second)).toMatchObject({ outcome: 'sold_out' });
  });

  test('has one reservation per wallet, which moves to the checkout that it signed for last', async ({
    api,
    linkOf,
    started,
    sign,
    session,
    inTime,
    pay,
  }) => {
    const link = await linkOf(2);
    const [first, second, other] = [await started(link), await started(link), await started(link)];
    const until = inTime(TEN_MINUTES_MS);
    const wallet = await sign(first);
    api.clock.advance(60_000);

    await sign(second, wallet);
    await sign(other);

    expect(await session(first)).toMatchObject({ use_reserved_until: null });
    expect(await session(second)).toMatchObject({ use_reserved_until: until });
    expect(await session(other)).toMatchObject({ use_reserved_until: inTime(TEN_MINUTES_MS) });
    expect(await pay(first)).toBe('paid_sold_out');
    expect([await pay(second), await pay(other)]).toEqual(['paid', 'paid']);
  });

  test('reserves nothing more for a wallet whose payment of another checkout is confirmed', async ({
    linkOf,
    started,
    sign,
    session,
    seePayment,
    inTime,
  }) => {
    const link = await linkOf(2);
    const [first, second] = [await started(link), await started(link)];
    const wallet = await sign(first);
    await seePayment(first, wallet);

    await sign(second, wallet);

    expect(await session(first)).toMatchObject({ use_reserved_until: inTime(TEN_MINUTES_MS) });
    expect(await session(second)).toMatchObject({ use_reserved_until: null });
  });

  test('reserves a checkout once, also when another wallet signs for it', async ({
    api,
    linkOf,
    started,
    sign,
    session,
    inTime,
  }) => {
    const id = await started(await linkOf(1));
    const until = inTime(TEN_MINUTES_MS);
    await sign(id);
    api.clock.advance(TEN_MINUTES_MS + ALLOWANCE_MS);

    await sign(id);

    expect(await session(id)).toMatchObject({ use_reserved_until: until });
  });

  test('does not reserve beyond the end of the checkout', async ({ merchant, linkOf, inTime }) => {
    const { id } = await linkOf(1);

    const { body } = await merchant.post(SESSIONS, { payment_link_id: id, expires_in: 300 });

    expect(record(body).use_reserved_until).toBe(inTime(300_000));
  });

  test('frees the use at once when the merchant ends the checkout', async ({
    merchant,
    linkOf,
    create,
    start,
  }) => {
    const link = await linkOf(1);
    const id = text(record((await create(link)).body).id);

    const { body } = await merchant.post(`${SESSIONS}/${id}/expire`);

    expect(record(body)).toMatchObject({ status: 'expired', use_reserved_until: null });
    expect((await start(link)).status).toBe(201);
  });

  test('ends all reservations when the merchant switches them off', async ({
    merchant,
    linkOf,
    create,
    started,
    session,
    pay,
  }) => {
    const link = await linkOf(1);
    const reserved = text(record((await create(link)).body).id);

    const { body } = await merchant.patch(`${LINKS}/${text(link.id)}`, { reserve_uses: false });
    const second = await started(link);

    expect(record(body).reserve_uses).toBe(false);
    expect(await session(reserved)).toMatchObject({ use_reserved_until: null });
    expect(await pay(second)).toBe('paid');
  });

  test('needs the merchant’s wish and a limit, and is copied with its link', async ({
    merchant,
    linkOf,
    create,
    started,
    sign,
    session,
  }) => {
    const [unlimited, plain] = [await linkOf(null), await linkOf(1, { reserve_uses: undefined })];
    const signed = await started(plain);

    await sign(signed);

    expect(plain.reserve_uses).toBe(false);
    expect(await session(signed)).toMatchObject({ use_reserved_until: null });
    expect(record((await create(plain)).body).use_reserved_until).toBeNull();
    expect(record((await create(unlimited)).body).use_reserved_until).toBeNull();
    const copy = await merchant.post(`${LINKS}/${text(unlimited.id)}/duplicate`, {});
    expect(record(copy.body).reserve_uses).toBe(true);
  });
});

function aWallet(): PrivateKeyAccount {
  return privateKeyToAccount(generatePrivateKey());
}
