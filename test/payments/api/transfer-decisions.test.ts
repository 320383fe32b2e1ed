import { expect } from 'vitest';
import { transferStore } from '#payments/store/transfer-store.ts';
import { list, record, text } from '../../lab/json.ts';
import { allDue } from '../../lab/payments-records.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import { aPayment, errorOf, idsOf, type Merchant, masked, PLACE } from '../../support/payments-api.ts';

const TRANSFERS = '/api/v1/unmatched-transfers';
const TRANSACTIONS = '/api/v1/transactions';
const SESSIONS = '/api/v1/checkout-sessions';
const PRICE = 2_000n;
const WALLET = `0x${'c1'.repeat(20)}`;
const REFUSED = '400 invalid_status_transition';
const BY_KEY = expect.stringMatching(/^api_key:ak_/);

eachPaymentsApi('a decision about', apiTest => {
  const test = apiTest
    .extend('opened', () => async (merchant: Merchant, changes: object = {}) => {
      const { body } = await merchant.post(SESSIONS, { ...PLACE, amount: `${PRICE}`, ...changes });
      return text(record(body).id);
    })
    .extend(
      'session',
      () => async (merchant: Merchant, id: string) => record((await merchant.get(`${SESSIONS}/${id}`)).body),
    )
    /** A confirmed transfer that matched nothing. */
    .extend('unmatched', ({ api }) => async ({ owner }: Merchant, changes: object = {}) => {
      const store = transferStore(api.db);
      const transfer = aPayment({ amount: PRICE, blockTime: api.clock.now(), ...changes });
      await store.upsert(owner, transfer, api.clock.now());
      const kept = (await store.unconfirmed(allDue(transfer.chainId))).filter(
        ({ txHash }) => txHash === transfer.txHash,
      );
      await store.confirm(kept, api.clock.now());
      return kept[0]?.id ?? 'none';
    })
    /** The id of a completed payment. */
    .extend('paid', ({ api }) => async (id: string, amount = PRICE, recipient?: string) => {
      api.clock.advance(1);
      return api.settle(async settle => {
        const transfer = aPayment({
          amount,
          blockTime: api.clock.now(),
          sender: WALLET,
          ...(recipient && { recipient }),
        });
        const seen = await settle.recordTransfer({ id }, transfer, { matchedBy: 'wallet', confirmations: 1 });
        return (await settle.complete(seen.id)).id;
      });
    });

  test('an assignment is recorded with the transfer and the payment', async ({ api, opened, unmatched }) => {
    const merchant = await api.merchant();
    const [session, transfer] = [await opened(merchant), await unmatched(merchant)];
    const decision = { assigned_by: BY_KEY, assigned_reason: 'by mail' };

    const assigned = await merchant.post(`${TRANSFERS}/${transfer}/assign`, {
      session_id: session,
      reason: 'by mail',
    });

    expect(assigned.body).toMatchObject({ ...decision, assigned_at: expect.any(String), moved_from: null });
    expect((await merchant.get(TRANSFERS)).body).toMatchObject({
      data: [{ status: 'assigned', ...decision }],
    });
  });

  test('a transfer dismisses it until it is restored, and names who and why', async ({
    api,
    opened,
    unmatched,
  }) => {
    const merchant = await api.merchant();
    const [session, id] = [await opened(merchant), await unmatched(merchant)];
    const decide = (name: string, body: object = {}) => merchant.post(`${TRANSFERS}/${id}/${name}`, body);

    const dismissed = await decide('dismiss', { reason: 'A deposit of our own' });
    const open = idsOf(await merchant.get(`${TRANSFERS}?status=open`));
    const refused = [await decide('assign', { session_id: session }), await decide('dismiss')].map(errorOf);
    const kept = idsOf(await merchant.get(`${TRANSFERS}?status=dismissed`));
    const restored = await decide('restore');

    expect(dismissed.body).toMatchObject({
      status: 'dismissed',
      dismissed_at: expect.any(String),
      dismissed_by: BY_KEY,
      dismissed_reason: 'A deposit of our own',
    });
    expect([open, kept, refused]).toEqual([[], [id], [REFUSED, REFUSED]]);
    expect(restored.body).toMatchObject({
      status: 'open',
      dismissed_at: null,
      dismissed_by: null,
      restored_at: expect.any(String),
      restored_by: BY_KEY,
      restored_reason: null,
    });
    expect(errorOf(await decide('restore'))).toBe(REFUSED);
    expect((await decide('assign', { session_id: session })).status).toBe(200);
  });

  test('a dismissed transfer that moves to another block stays dismissed', async ({ api, unmatched }) => {
    const merchant = await api.merchant();
    const txHash = `0x${'5d'.repeat(32)}`;
    const id = await unmatched(merchant, { txHash });
    await merchant.post(`${TRANSFERS}/${id}/dismiss`);

    await unmatched(merchant, { txHash, blockHash: `0x${'99'.repeat(32)}`, blockNumber: 8 });

    expect((await merchant.get(TRANSFERS)).body).toMatchObject({
      data: [{ id, status: 'dismissed', block_number: 8 }],
    });
    expect(idsOf(await merchant.get(`${TRANSFERS}?status=open`))).toEqual([]);
  });

  test('a late payment moves it to the session it was meant for, which it completes', async ({
    api,
    opened,
    session,
    paid,
  }) => {
    const merchant = await api.merchant();
    const [ended, open] = [await opened(merchant), await opened(merchant)];
    await merchant.post(`${SESSIONS}/${ended}/expire`);
    const id = await paid(ended);
    expect(await session(merchant, ended)).toMatchObject({ payment_status: 'paid', payer_address: WALLET });

    api.clock.advance(1);
    const moved = await merchant.post(`${TRANSACTIONS}/${id}/move`, {
      session_id: open,
      reason: 'His new order',
    });

    expect(moved.body).toMatchObject({
      id,
      session_id: open,
      status: 'completed',
      matched_by: 'assignment',
      late: false,
      moved_from: ended,
      assigned_by: BY_KEY,
      assigned_reason: 'His new order',
    });
    expect(await session(merchant, ended)).toMatchObject({
      status: 'expired',
      payment_status: 'awaiting_payment',
      amount_received: '0',
      payer_address: null,
      tx_hash: null,
      confirmations: 0,
    });
    expect(await session(merchant, open)).toMatchObject({
      status: 'completed',
      amount_received: `${PRICE}`,
      transaction_id: id,
    });
    expect(idsOf(await merchant.get(`${TRANSACTIONS}?moved_from=${ended}`))).toEqual([id]);
    const exported = async (from: string) =>
      text((await merchant.get(`${TRANSACTIONS}/export?moved_from=${from}`)).body)
        .trim()
        .split('\r\n')
        .slice(1);
    expect(await exported(ended)).toEqual([expect.stringContaining(id)]);
    expect(await exported(open)).toEqual([]);
    expect(idsOf(await merchant.get(`${TRANSACTIONS}?session_id=${ended}`))).toEqual([]);
    expect((await merchant.get(`/api/v1/events?session_id=${open}`)).body).toMatchObject({
      data: [{ event: 'checkout.completed' }, { event: 'payment.completed', data: { id, session_id: open } }],
    });
  });

  test('an assigned transfer moves it, and the transfer names its new session', async ({
    api,
    opened,
    unmatched,
  }) => {
    const merchant = await api.merchant();
    const [from, to] = [await opened(merchant), await opened(merchant)];
    await merchant.post(`${SESSIONS}/${from}/expire`);
    const transfer = await unmatched(merchant);
    const assigned = await merchant.post(`${TRANSFERS}/${transfer}/assign`, { session_id: from });

    const { id } = record(assigned.body);
    await merchant.post(`${TRANSACTIONS}/${id}/move`, { session_id: to });

    expect((await merchant.get(TRANSFERS)).body).toMatchObject({
      data: [{ id: transfer, status: 'assigned', session_id: to, transaction_id: id }],
    });
  });

  test('a payment that is moved twice shows its whole way, and its events stay with their sessions', async ({
    api,
    opened,
    paid,
  }) => {
    const merchant = await api.merchant();
    const [first, second, third] = [await opened(merchant), await opened(merchant), await opened(merchant)];
    for (const one of [first, second]) await merchant.post(`${SESSIONS}/${one}/expire`);
    const id = await paid(first);
    const move = (session_id: string, reason: string) => {
      api.clock.advance(1_000);
      return merchant.post(`${TRANSACTIONS}/${id}/move`, { session_id, reason });
    };
    const eventsOf = async (session: string) =>
      list(record((await merchant.get(`/api/v1/events?session_id=${session}`)).body).data).map(one => {
        const { event, data } = record(one);
        return `${event} ${record(data).session_id ?? ''}`.trim();
      });

    await move(second, 'Of the same payer');
    const moved = await move(third, 'His newest order');

    const moves = [
      { session_id: first, moved_by: BY_KEY, moved_reason: 'Of the same payer' },
      { session_id: second, moved_by: BY_KEY, moved_reason: 'His newest order' },
    ];
    expect(moved.body).toMatchObject({ session_id: third, moved_from: second, moves });
    expect((await merchant.get(`${TRANSACTIONS}/${id}`)).body).toEqual(moved.body);
    for (const session of [first, second]) {
      const { body } = await merchant.get(`${TRANSACTIONS}?moved_from=${session}`);
      expect(body).toMatchObject({ data: [{ id, moves }] });
    }
    expect(await eventsOf(first)).toEqual([
      expect.stringMatching(/^checkout.paid_late/),
      `payment.completed ${first}`,
      expect.stringMatching(/^checkout.expired/),
    ]);
    expect(await eventsOf(second)).toEqual([
      `payment.completed ${second}`,
      expect.stringMatching(/^checkout.expired/),
    ]);
    expect(await eventsOf(third)).toEqual([
      expect.stringMatching(/^checkout.completed/),
      `payment.completed ${third}`,
    ]);
  });

  test('a payment leaves the others of its session, and is late in one that has ended', async ({
    api,
    opened,
    session,
    paid,
  }) => {
    const merchant = await api.merchant();
    const [from, to] = [await opened(merchant), await opened(merchant)];
    await merchant.post(`${SESSIONS}/${to}/expire`);
    await paid(from, 300n);
    const id = await paid(from, 500n);

    const moved = await merchant.post(`${TRANSACTIONS}/${id}/move`, { session_id: to });

    expect(moved.body).toMatchObject({ late: true, partial: true });
    expect(await session(merchant, from)).toMatchObject({
      payment_status: 'underpaid',
      amount_received: '300',
      payer_address: WALLET,
    });
    expect(await session(merchant, to)).toMatchObject({ status: 'expired', amount_received: '500' });
  });

  test('a duplicate moves it; what completed or was accepted for a session stays', async ({
    api,
    opened,
    session,
    paid,
  }) => {
    const merchant = await api.merchant();
    const [done, accepted, other] = [await opened(merchant), await opened(merchant), await opened(merchant)];
    const [first, twice, part] = [await paid(done), await paid(done), await paid(accepted, 5n)];
    await paid(done);
    const { tx_hash } = await session(merchant, done);
    await merchant.post(`${SESSIONS}/${accepted}/accept`);
    const move = (id: string) => merchant.post(`${TRANSACTIONS}/${id}/move`, { session_id: other });

    const stays = [await move(first), await move(part)].map(errorOf);
    const moved = await move(twice);

    expect(stays).toEqual([REFUSED, REFUSED]);
    expect(moved.body).toMatchObject({ duplicate: false, session_id: other });
    expect(await session(merchant, done)).toMatchObject({
      status: 'completed',
      amount_received: `${2n * PRICE}`,
      tx_hash,
    });
    expect(await session(merchant, other)).toMatchObject({ status: 'completed', transaction_id: twice });
    expect(errorOf(await move(twice))).toBe('400 invalid_field_value session_id');
  });

  test('a moved payment counts in its new session after a reorganisation', async ({
    api,
    opened,
    session,
    paid,
  }) => {
    const merchant = await api.merchant();
    const [from, to] = [await opened(merchant), await opened(merchant)];
    await merchant.post(`${SESSIONS}/${from}/expire`);
    const id = await paid(from);
    await merchant.post(`${TRANSACTIONS}/${id}/move`, { session_id: to });

    await api.settle(settle => settle.reorg(id));

    expect(await session(merchant, to)).toMatchObject({ status: 'completed', is_reorged: true });
    expect(await session(merchant, from)).toMatchObject({ amount_received: '0', is_reorged: false });
  });

  test('a payment with a refund, of another address or of another organization moves nothing', async ({
    api,
    opened,
    paid,
  }) => {
    const [merchant, others] = [await api.merchant(), await api.merchant()];
    const [from, to] = [await opened(merchant), await opened(merchant)];
    const elsewhere = await opened(merchant, { recipient_address: `0x${'77'.repeat(20)}` });
    const id = await paid(from, 500n);
    const move = (session_id: string, by: Merchant = merchant) =>
      by.post(`${TRANSACTIONS}/${id}/move`, { session_id });

    expect(errorOf(await move(elsewhere))).toBe('400 invalid_field_value session_id');
    expect(errorOf(await move(from))).toBe('400 invalid_field_value session_id');
    expect(errorOf(await move(await opened(others)))).toBe('404 resource_not_found');
    expect(masked(await move(to, others), id)).toMatchObject({ status: 404 });
    const address = `0x${'ab'.repeat(20)}`;
    const refund = { transaction_id: id, destination_address: address, destination_confirmation: address };
    expect((await merchant.post('/api/v1/refunds', refund)).status).toBe(201);
    expect(errorOf(await move(to))).toBe(REFUSED);
  });

  test('a transfer is helped by its candidates, the best first', async ({ api, opened, unmatched, paid }) => {
    const merchant = await api.merchant();
    // Its own, because of a recipient of another organization a session has no exact amount.
    const recipient = `0x${'c4'.repeat(20)}`;
    const at = { recipient_address: recipient };
    const [ended, near] = [
      await opened(merchant, at),
      await opened(merchant, { ...at, amount: `${PRICE - 1n}` }),
    ];
    await merchant.post(`${SESSIONS}/${ended}/expire`);
    const [first, open] = [await opened(merchant, at), await opened(merchant, at)];
    // A block states the beginning of its second.
    api.clock.advance(1_000);
    const stranger = await opened(merchant, at);
    const blockTime = api.clock.now() - 1_000;

    const transfer = await unmatched(merchant, { blockTime, recipient });
    const payment = await paid(ended, PRICE, recipient);

    const ofTransfer = idsOf(await merchant.get(`${TRANSFERS}/${transfer}/candidates`));
    expect(new Set(ofTransfer.slice(0, 2))).toEqual(new Set([first, open]));
    expect(ofTransfer.slice(2)).toEqual([ended, stranger, near]);
    const ofPayment = idsOf(await merchant.get(`${TRANSACTIONS}/${payment}/candidates`));
    expect(ofPayment).toHaveLength(4);
    expect(ofPayment).not.toContain(ended);
    const reader = await merchant.withKey({ permission: 'read' });
    expect(errorOf(await reader.post(`${TRANSFERS}/${transfer}/dismiss`))).toBe(
      '403 insufficient_permissions',
    );
    expect(errorOf(await merchant.get(`${TRANSFERS}/utr_nothing/candidates`))).toBe('404 resource_not_found');
  });

  test('a transfer of a part or of twice the exact amount is helped by the only checkout that was open', async ({
    api,
    opened,
    session,
    unmatched,
  }) => {
    const merchant = await api.merchant();
    const recipient = `0x${'c5'.repeat(20)}`;
    const price = 5_000_000n;
    const only = await opened(merchant, { recipient_address: recipient, amount: `${price}` });
    const twice = 2n * BigInt(text((await session(merchant, only)).amount_due));
    const blockTime = api.clock.now();
    const transfers: string[] = [];
    for (const amount of [price / 2n, twice, price / 10n - 1n, 3n * price])
      transfers.push(await unmatched(merchant, { amount, blockTime, recipient }));
    const candidates = () =>
      Promise.all(
        transfers.map(async id => idsOf(await merchant.get(`${TRANSFERS}/${id}/candidates`)).join()),
      );

    const found = await candidates();
    await opened(merchant, { recipient_address: recipient, amount: `${price + 100_000n}` });

    expect(found).toEqual([only, only, '', '']);
    expect(await candidates()).toEqual(['', '', '', '']);
  });
});
