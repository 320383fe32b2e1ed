import { expect } from 'vitest';
import { linkStore } from '#payments/store/link-store.ts';
import { list, record, text } from '../../lab/json.ts';
import { aLink } from '../../lab/payments-records.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import {
  type ApiAnswer,
  aPayment,
  errorOf,
  type Merchant,
  masked,
  PLACE,
  someHash,
  TEST_CHAIN,
} from '../../support/payments-api.ts';

const SESSIONS = '/api/v1/checkout-sessions';
const TRANSACTIONS = '/api/v1/transactions';
const MISSING = 'cs_000000000000000000000000';
const PRICE = 2_000n;
const REASON = 'The bank holiday delayed the transfer';
const REFUSED = '400 invalid_status_transition';

eachPaymentsApi('an acceptance', apiTest => {
  const test = apiTest
    /** The id of a new session, of a link when one is given. */
    .extend('opened', ({ merchant }) => async (linkId?: string, by: Pick<Merchant, 'post'> = merchant) => {
      const terms = linkId === undefined ? { ...PLACE, amount: `${PRICE}` } : { payment_link_id: linkId };
      return text(record((await by.post(SESSIONS, terms)).body).id);
    })
    /** A link with this many uses. */
    .extend('link', ({ api, merchant }) => async (maxUses: number | null) => {
      const link = aLink(merchant.owner, { amount: PRICE, maxUses });
      await linkStore(api.db).insert(link);
      return link.id;
    })
    /** Records a transfer as a payment and completes it, or leaves it in confirmation. */
    .extend(
      'paid',
      ({ api }) =>
        async (id: string, changes: Parameters<typeof aPayment>[0] | object = {}, isFinal = true) => {
          api.clock.advance(1);
          const transfer = aPayment({ amount: PRICE, blockTime: api.clock.now(), ...changes });
          return api.settle(async settle => {
            const seen = { matchedBy: 'wallet', confirmations: 1 } as const;
            const payment = await settle.recordTransfer({ id }, transfer, seen);
            return { transfer, payment: isFinal ? await settle.complete(payment.id) : payment };
          });
        },
    )
    /** Ends a session by its time. */
    .extend('overdue', ({ api }) => async () => {
      api.clock.advance(3_600_000);
      const due = { chainId: TEST_CHAIN, until: api.clock.now(), limit: 1_000 };
      await api.settle(settle => settle.expireDue(due));
    })
    .extend(
      'accept',
      ({ merchant }) =>
        (id: string, body: unknown = {}, by: Pick<Merchant, 'post'> = merchant): Promise<ApiAnswer> =>
          by.post(`${SESSIONS}/${id}/accept`, body),
    )
    .extend(
      'session',
      ({ merchant }) =>
        async (id: string) =>
          (await merchant.get(`${SESSIONS}/${id}`)).body,
    )
    /** Types of a session's events, oldest first. */
    .extend('events', ({ merchant }) => async (id: string) => {
      const { body } = await merchant.get(`/api/v1/events?session_id=${id}`);
      return list(record(body).data)
        .map(one => record(one))
        .toReversed();
    });

  test('of a late payment completes its session, names who and why, and notifies receivers once', async ({
    api,
    merchant,
    opened,
    overdue,
    paid,
    accept,
    session,
    events,
  }) => {
    const id = await opened();
    await overdue();
    const { payment } = await paid(id);
    expect(await session(id)).toMatchObject({ status: 'expired', payment_status: 'paid' });

    api.clock.advance(1);
    const accepted = await accept(id, { reason: ` ${REASON} ` });

    const decision = {
      accepted_at: record(accepted.body).completed_at,
      accepted_by: expect.stringMatching(/^api_key:ak_/),
      accepted_reason: REASON,
    };
    expect(accepted).toMatchObject({
      status: 200,
      body: { id, status: 'completed', payment_status: 'paid', transaction_id: payment.id, ...decision },
    });
    expect(await session(id)).toEqual(accepted.body);
    expect((await merchant.get(`${TRANSACTIONS}/${payment.id}`)).body).toMatchObject({ late: true });
    const told = await events(id);
    expect(told.map(one => one.event)).toEqual([
      'checkout.expired',
      'payment.completed',
      'checkout.paid_late',
      'checkout.completed',
    ]);
    expect(told.at(-1)?.data).toMatchObject({ id: payment.id, session_id: id, late: true, ...decision });
  });

  test('of a part completes an open session without a reason, and a later payment is a duplicate', async ({
    opened,
    paid,
    accept,
    session,
  }) => {
    const id = await opened();
    await paid(id, { amount: 1_500n });

    expect((await accept(id)).body).toMatchObject({
      status: 'completed',
      amount_received: '1500',
      accepted_reason: null,
    });

    const { payment } = await paid(id, { amount: 500n });
    expect(payment).toMatchObject({ isDuplicate: true, isPartial: false });
    expect(await session(id)).toMatchObject({ status: 'completed', amount_received: '2000' });
  });

  test('counts one use of a link, also beyond the last one', async ({
    merchant,
    opened,
    link,
    paid,
    accept,
    session,
  }) => {
    const linkId = await link(1);
    const [first, second] = [await opened(linkId), await opened(linkId)];
    await paid(first);
    await paid(second);
    expect(await session(second)).not.toMatchObject({ status: 'completed' });

    const accepted = await accept(second, {}, merchant);

    expect(accepted.body).toMatchObject({ status: 'completed' });
    const uses = { current_uses: 2, max_uses: 1, availability: 'used_up' };
    expect((await merchant.get(`/api/v1/payment-links/${linkId}`)).body).toMatchObject(uses);
    expect(errorOf(await accept(second))).toBe(REFUSED);
    expect((await merchant.get(`/api/v1/payment-links/${linkId}`)).body).toMatchObject(uses);
  });

  test('counts the payments of all senders, as figures and export do', async ({ api, paid, accept }) => {
    const shop = await api.merchant();
    const { body } = await shop.post(SESSIONS, { ...PLACE, amount: `${PRICE}` });
    const id = text(record(body).id);
    await paid(id, { amount: 700n });
    await paid(id, { amount: 800n, sender: `0x${'d2'.repeat(20)}` });

    const accepted = record((await accept(id, {}, shop)).body);

    expect(accepted).toMatchObject({ amount_received: '1500', status: 'completed' });
    const { volume } = record((await shop.get('/api/v1/analytics/overview')).body);
    expect(list(volume)).toMatchObject([{ amount: '1500', transactions: 2 }]);
    const csv = text((await shop.get(`${TRANSACTIONS}/export?format=csv`)).body);
    const [header = '', ...lines] = csv.trim().split('\r\n');
    const column = header.split(',').indexOf('amount');
    expect(lines.map(line => line.split(',')[column])).toEqual(['800', '700']);
  });

  test('is made once by concurrent requests, and a repeated one has the same answer', async ({
    merchant,
    opened,
    link,
    paid,
    accept,
    events,
  }) => {
    const linkId = await link(null);
    const id = await opened(linkId);
    await paid(id, { amount: 1n });
    const path = `${SESSIONS}/${id}/accept`;
    const key = { 'Idempotency-Key': someHash() };

    const keyed = await Promise.all([1, 2].map(() => merchant.post(path, { reason: REASON }, key)));
    const others = await Promise.all([accept(id), accept(id)]);

    expect(keyed.map(({ status, body }) => [status, body])).toEqual(
      keyed.map(() => [200, expect.objectContaining({ status: 'completed', accepted_reason: REASON })]),
    );
    expect(others.map(errorOf)).toEqual([REFUSED, REFUSED]);
    expect((await events(id)).filter(one => one.event === 'checkout.completed')).toHaveLength(1);
    expect((await merchant.get(`/api/v1/payment-links/${linkId}`)).body).toMatchObject({ current_uses: 1 });
  });

  test('stays after a reorganisation, marked until all that was accepted is back', async ({
    api,
    opened,
    overdue,
    paid,
    accept,
    session,
    events,
  }) => {
    const id = await opened();
    const part = await paid(id, { amount: 300n });
    await overdue();
    const late = await paid(id, { amount: 700n, sender: `0x${'d2'.repeat(20)}` });
    await accept(id);
    const back = ({ transfer }: typeof part) =>
      paid(id, { ...transfer, blockHash: someHash(), blockNumber: 9 });

    await api.settle(async settle => {
      for (const { payment } of [part, late]) await settle.reorg(payment.id);
    });
    const dropped = await session(id);
    await back(late);
    const half = await session(id);
    const returned = await back(part);

    expect(dropped).toMatchObject({ status: 'completed', is_reorged: true, amount_received: '0' });
    expect(half).toMatchObject({ status: 'completed', is_reorged: true, amount_received: '700' });
    expect(returned.payment).toMatchObject({ id: part.payment.id, isLate: false, isPartial: true });
    expect(await session(id)).toMatchObject({
      status: 'completed',
      is_reorged: false,
      amount_received: '1000',
      transaction_id: late.payment.id,
    });
    expect((await events(id)).filter(one => one.event === 'checkout.completed')).toHaveLength(1);
  });

  test('of a late payment leaves it late, also in another block', async ({
    api,
    opened,
    overdue,
    paid,
    accept,
  }) => {
    const id = await opened();
    await overdue();
    const { transfer, payment } = await paid(id);
    expect((await accept(id)).body).toMatchObject({ status: 'completed', transaction_id: payment.id });

    await api.settle(settle => settle.reorg(payment.id));
    const returned = await paid(id, { ...transfer, blockHash: someHash(), blockNumber: 9 });

    expect(returned.payment).toMatchObject({ id: payment.id, status: 'completed', isLate: true });
  });

  test('is refused without a confirmed payment, and of a session that is completed', async ({
    merchant,
    opened,
    paid,
    accept,
  }) => {
    const [empty, confirming, completed] = [await opened(), await opened(), await opened()];
    await paid(confirming, { amount: 1n });
    await paid(confirming, { amount: 2n }, false);
    await paid(completed);

    for (const id of [empty, confirming, completed]) expect(errorOf(await accept(id))).toBe(REFUSED);
    const refused = await accept(confirming);
    expect(record(record(refused.body).error).message).toBe(
      'The checkout session has a payment that is being confirmed, so it cannot be accepted.',
    );
    expect((await merchant.get(`${SESSIONS}/${completed}`)).body).toMatchObject({
      status: 'completed',
      accepted_at: null,
      accepted_by: null,
    });
  });

  test('is refused of a session that the merchant ended, or whose link was deleted', async ({
    merchant,
    opened,
    link,
    paid,
    accept,
  }) => {
    const linkId = await link(null);
    const [cancelled, orphan] = [await opened(), await opened(linkId)];
    await merchant.post(`${SESSIONS}/${cancelled}/expire`);
    await merchant.delete(`/api/v1/payment-links/${linkId}`);

    for (const id of [cancelled, orphan]) {
      await paid(id);
      expect(errorOf(await accept(id))).toBe(REFUSED);
    }
  });

  test('needs write permission, a valid reason and a session of its own', async ({
    api,
    merchant,
    opened,
    paid,
    accept,
  }) => {
    const id = await opened();
    await paid(id, { amount: 1n });
    const reader = await merchant.withKey({ permission: 'read' });
    const others = await api.merchant();
    const answer = async (session: string) => masked(await accept(session, {}, others), session);

    expect(errorOf(await accept(id, {}, reader))).toBe('403 insufficient_permissions');
    expect(errorOf(await accept(id, { reason: 'two\nlines' }))).toBe('400 invalid_field_value reason');
    expect(errorOf(await accept(id, { reason: 'x'.repeat(501) }))).toBe('400 invalid_field_value reason');
    expect(await answer(id)).toEqual(await answer(MISSING));
    expect(errorOf(await accept(MISSING))).toBe('404 resource_not_found');
  });
});
