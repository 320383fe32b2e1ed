import { expect } from 'vitest';
import { list, record, text } from '../../lab/json.ts';
import { aTransfer } from '../../lab/payments-sessions.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import { errorOf, PLACE } from '../../support/payments-api.ts';

const ORGANIZATION = '/api/v1/organization';
const LINKS = '/api/v1/payment-links';
const SESSIONS = '/api/v1/checkout-sessions';
const PRICE = 10_000_000n;
const TERMS = { ...PLACE, name: 'Notebook', amount: `${PRICE}` };

eachPaymentsApi('the tolerance', apiTest => {
  const test = apiTest
    /** The tolerance of a session of a link, or of one without a link. */
    .extend('toleranceOf', ({ merchant }) => async (linkId?: unknown): Promise<unknown> => {
      const terms = linkId === undefined ? { ...PLACE, amount: `${PRICE}` } : { payment_link_id: linkId };
      return record((await merchant.post(SESSIONS, terms)).body).payment_tolerance;
    })
    /** Records and confirms a transfer to a session. */
    .extend('pay', ({ api }) => async (id: string, amount: bigint, matchedBy: 'wallet' | 'amount') => {
      const transfer = aTransfer({ amount, blockTime: api.clock.now() });
      const evidence = { matchedBy, confirmations: 1 };
      const seen = await api.settle(one => one.recordTransfer({ id }, transfer, evidence));
      return api.settle(one => one.complete(seen.id));
    })
    .extend('opened', ({ merchant }) => async (): Promise<string> => {
      await merchant.patch(ORGANIZATION, { payment_tolerance: 1 });
      return text(record((await merchant.post(SESSIONS, { ...PLACE, amount: `${PRICE}` })).body).id);
    });

  test('of a session is that of its link, or else of the organization', async ({ merchant, toleranceOf }) => {
    const link = record((await merchant.post(LINKS, TERMS)).body);
    const strict = record((await merchant.post(LINKS, { ...TERMS, payment_tolerance: 0 })).body);
    const before = await toleranceOf(link.id);
    await merchant.patch(ORGANIZATION, { payment_tolerance: 0.29 });

    expect([link.payment_tolerance, strict.payment_tolerance, before]).toEqual([null, 0, 0]);
    expect((await merchant.get(ORGANIZATION)).body).toMatchObject({ payment_tolerance: 0.29 });
    expect([await toleranceOf(), await toleranceOf(link.id), await toleranceOf(strict.id)]).toEqual([
      0.29, 0.29, 0,
    ]);
    await merchant.patch(`${LINKS}/${text(link.id)}`, { payment_tolerance: 10 });
    expect(await toleranceOf(link.id)).toBe(10);
    await merchant.patch(`${LINKS}/${text(link.id)}`, { payment_tolerance: null });
    expect(await toleranceOf(link.id)).toBe(0.29);
  });

  test('is copied with its link, and for a payer who opens the checkout', async ({ api, merchant }) => {
    const link = record((await merchant.post(LINKS, { ...TERMS, payment_tolerance: 2.5 })).body);

    const copy = record((await merchant.post(`${LINKS}/${text(link.id)}/duplicate`, {})).body);
    const opened = record(
      (await api.payer.post(`/api/v1/pay/links/${text(copy.short_code)}/sessions`, {})).body,
    );

    const session = await merchant.get(`${SESSIONS}/${text(opened.id)}`);
    expect([copy.payment_tolerance, record(session.body).payment_tolerance]).toEqual([2.5, 2.5]);
    expect(JSON.stringify(opened)).not.toContain('tolerance');
  });

  test('of an open session stays when settings change', async ({ merchant, opened, pay }) => {
    const id = await opened();
    await merchant.patch(ORGANIZATION, { payment_tolerance: 0 });

    await pay(id, PRICE - 100_000n, 'wallet');

    expect((await merchant.get(`${SESSIONS}/${id}`)).body).toMatchObject({
      payment_tolerance: 1,
      status: 'completed',
      outcome: 'paid',
    });
  });

  test.for([
    [10.01, 'must be a number from 0 to 10'],
    [-0.01, 'must be a number from 0 to 10'],
    [0.125, 'must have at most two decimal places'],
    [1e-9, 'must have at most two decimal places'],
    ['1', 'must be a number'],
  ] as const)('cannot be %s', async ([payment_tolerance, rule], { merchant }) => {
    const answers = [
      await merchant.patch(ORGANIZATION, { payment_tolerance }),
      await merchant.post(LINKS, { ...TERMS, payment_tolerance }),
    ];

    for (const answer of answers) {
      expect(errorOf(answer)).toBe('400 invalid_field_value payment_tolerance');
      expect(JSON.stringify(answer.body)).toContain(rule);
    }
  });

  test('of an organization cannot be null', async ({ merchant }) => {
    const answer = await merchant.patch(ORGANIZATION, { payment_tolerance: null });

    expect(errorOf(answer)).toBe('400 invalid_field_value payment_tolerance');
  });

  test.for([
    ['up to it', PRICE - 100_000n, 'wallet', { outcome: 'paid', payment_status: 'paid' }],
    ['beyond it', PRICE - 100_001n, 'wallet', { outcome: 'partial', payment_status: 'underpaid' }],
    ['within it by an amount', PRICE - 1n, 'amount', { outcome: 'partial', payment_status: 'underpaid' }],
  ] as const)(
    'decides about a payment that is short %s',
    async ([, amount, by, expected], { merchant, opened, pay }) => {
      const id = await opened();

      const payment = await pay(id, amount, by);

      const { body } = await merchant.get(`${SESSIONS}/${id}`);
      expect(body).toMatchObject({ ...expected, amount_received: `${amount}`, amount_overpaid: '0' });
      expect(payment.isPartial).toBe(expected.outcome === 'partial');
    },
  );

  test('never makes more than the price too much: the rest may follow, and then more', async ({
    merchant,
    opened,
    pay,
  }) => {
    const id = await opened();
    const after = async (amount: bigint) => {
      await pay(id, amount, 'wallet');
      const { outcome, amount_overpaid } = record((await merchant.get(`${SESSIONS}/${id}`)).body);
      return [outcome, amount_overpaid];
    };

    expect(await after(PRICE - 100_000n)).toEqual(['paid', '0']);
    expect(await after(60_000n)).toEqual(['paid', '0']);
    expect(await after(70_000n)).toEqual(['overpaid', '30000']);

    const { body } = await merchant.get('/api/v1/events');
    const told = list(record(body).data).map(record);
    const overpaid = told.filter(({ event }) => event === 'checkout.overpaid');
    expect(overpaid.map(({ data }) => data)).toMatchObject([
      { transaction_amount: '70000', overpaid_amount: '30000', payment_tolerance: 1 },
    ]);
  });

  test('completes a checkout to which the merchant assigns or moves a payment', async ({
    api,
    merchant,
    opened,
    pay,
  }) => {
    const [first, second] = [await opened(), await opened()];
    await pay(first, PRICE, 'wallet');
    api.clock.advance(1);
    const extra = await pay(first, PRICE - 50_000n, 'wallet');

    await merchant.post(`/api/v1/transactions/${extra.id}/move`, { session_id: second });

    const { body } = await merchant.get(`${SESSIONS}/${second}`);
    expect(body).toMatchObject({ outcome: 'paid', transaction_id: extra.id });
  });

  test('does not help a simulated payment', async ({ merchant }) => {
    await merchant.patch(ORGANIZATION, { payment_tolerance: 10 });
    const { body } = await merchant.post(SESSIONS, { ...PLACE, amount: '10' });
    const path = `/api/v1/test/sessions/${text(record(body).id)}/simulate`;

    const half = await merchant.post(path, { outcome: 'underpaid' });

    expect(half.body).toMatchObject({ outcome: 'partial', amount_received: '5' });
  });
});
