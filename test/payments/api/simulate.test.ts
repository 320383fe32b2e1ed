import { expect } from 'vitest';
import { uintColumn } from '#db/columns.ts';
import { linkStore } from '#payments/store/link-store.ts';
import { record, text } from '../../lab/json.ts';
import { aLink } from '../../lab/payments-records.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import { errorOf, LIVE_CHAIN, type Merchant, masked, PLACE, TEST_CHAIN } from '../../support/payments-api.ts';

const SESSIONS = '/api/v1/checkout-sessions';
const MISSING = 'cs_000000000000000000000000';

eachPaymentsApi('simulated payments', apiTest => {
  const test = apiTest
    .extend(
      'opened',
      ({ merchant }) =>
        async (by: Pick<Merchant, 'post'> = merchant, chain_id = TEST_CHAIN): Promise<string> => {
          const terms = { ...PLACE, chain_id };
          const { body } = await by.post(SESSIONS, { ...terms, amount: '2000' });
          return text(record(body).id);
        },
    )
    .extend(
      'simulate',
      ({ merchant }) =>
        (id: string, body?: unknown, by: Pick<Merchant, 'post'> = merchant) =>
          by.post(`/api/v1/test/sessions/${id}/simulate`, body),
    )
    .extend(
      'transactionOf',
      ({ merchant }) =>
        async (id: string) =>
          (await merchant.get(`/api/v1/transactions?session_id=${id}`)).body,
    );

  test('complete a session by default, and count a use of its link', async ({
    api,
    merchant,
    simulate,
    transactionOf,
  }) => {
    const link = aLink(merchant.owner, { returnUrl: 'https://shop.example/thanks' });
    await linkStore(api.db).insert(link);
    const { body } = await merchant.post(SESSIONS, { payment_link_id: link.id });
    const id = text(record(body).id);

    const paid = await simulate(id);

    expect(paid.body).toMatchObject({ id, status: 'completed', payment_status: 'paid' });
    expect((await merchant.get(`${SESSIONS}/${id}`)).body).toEqual(paid.body);
    expect(await transactionOf(id)).toMatchObject({
      data: [{ id: record(paid.body).transaction_id, status: 'completed', matched_by: 'simulation' }],
    });
    expect((await merchant.get(`/api/v1/payment-links/${link.id}`)).body).toMatchObject({ current_uses: 1 });
  });

  test.for<[string, object, object]>([
    ['failed', { status: 'active', payment_status: 'failed' }, { status: 'failed', tx_hash: null }],
    ['underpaid', { status: 'active', payment_status: 'underpaid' }, { status: 'completed', partial: true }],
    ['reorg', { status: 'completed', is_reorged: true }, { status: 'failed', failure_reason: 'reorged' }],
  ])('can be %s', async ([outcome, session, transaction], { opened, simulate, transactionOf }) => {
    const id = await opened();

    expect((await simulate(id, { outcome })).body).toMatchObject(session);
    expect(await transactionOf(id)).toMatchObject({ data: [transaction] });
  });

  test('can be underpaid even when the tail is larger than the price', async ({
    api,
    merchant,
    simulate,
  }) => {
    const { body } = await merchant.post(SESSIONS, { ...PLACE, amount: '10' });
    const id = text(record(body).id);
    await api.db.raw('update checkout_sessions set amount_due = ? where id = ?', [uintColumn(9_999n), id]);

    expect((await simulate(id, { outcome: 'underpaid' })).body).toMatchObject({
      status: 'active',
      payment_status: 'underpaid',
      amount_received: '5',
    });
    expect((await simulate(id, { outcome: 'underpaid' })).body).toMatchObject({ status: 'completed' });
  });

  test('of half the price, made twice, complete a session', async ({ opened, simulate }) => {
    const id = await opened();
    await simulate(id, { outcome: 'underpaid' });

    expect((await simulate(id, { outcome: 'underpaid' })).body).toMatchObject({ status: 'completed' });
  });

  test('of half an indivisible amount are refused', async ({ api, merchant, simulate }) => {
    const { body } = await merchant.post(SESSIONS, { ...PLACE, amount: '1' });
    const id = text(record(body).id);
    await api.db.raw('update checkout_sessions set amount_due = amount, is_wallet_only = true where id = ?', [
      id,
    ]);

    expect(errorOf(await simulate(id, { outcome: 'underpaid' }))).toBe('400 invalid_field_value outcome');
    expect((await simulate(id)).body).toMatchObject({ status: 'completed' });
  });

  test('of an ended session are refused as invalid_status_transition', async ({
    merchant,
    opened,
    simulate,
  }) => {
    const id = await opened();
    await merchant.post(`${SESSIONS}/${id}/expire`);

    expect(errorOf(await simulate(id))).toBe('400 invalid_status_transition');
  });

  test('of another organization’s session, or with a live key, answer exactly like those of a missing one', async ({
    api,
    merchant,
    opened,
    simulate,
  }) => {
    const others = await api.merchant();
    const theirs = await opened(others);
    const ours = await opened();
    const live = await merchant.withKey({ mode: 'live' });
    const answer = async (id: string, by: Pick<Merchant, 'post'> = merchant) =>
      masked(await simulate(id, {}, by), id);

    const missing = await answer(MISSING);

    expect(missing).toMatchObject({ status: 404, body: { error: { code: 'resource_not_found' } } });
    expect(await answer(theirs)).toEqual(missing);
    expect(await answer(ours, live)).toEqual(missing);
    expect(await answer(await opened(live, LIVE_CHAIN), live)).toEqual(missing);
    expect((await merchant.get(`${SESSIONS}/${ours}`)).body).toMatchObject({ status: 'active' });
  });

  test('with an unknown outcome are refused', async ({ opened, simulate }) => {
    expect(errorOf(await simulate(await opened(), { outcome: 'paid' }))).toBe(
      '400 invalid_field_value outcome',
    );
  });
});
