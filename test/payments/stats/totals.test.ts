import fc from 'fast-check';
import { expect } from 'vitest';
import { transaction } from '#db/transaction.ts';
import { DAY_MS } from '#lib/clock.ts';
import { newId } from '#lib/ids.ts';
import type { PaymentTransaction } from '#payments/model/payment-transaction.ts';
import { refundStore } from '#payments/refunds/refund-store.ts';
import { seals } from '#payments/secrets/sealed.ts';
import { sessionStore } from '#payments/sessions/session-store.ts';
import { settlement } from '#payments/settlement/settlement.ts';
import { calendarOf } from '#payments/stats/calendar.ts';
import { added, paymentTotals } from '#payments/stats/totals.ts';
import { transactionStore } from '#payments/store/transaction-store.ts';
import { aRefund } from '../../lab/payments-refunds.ts';
import { aSession, hash } from '../../lab/payments-sessions.ts';
import { eachPaymentsDatabase } from '../../support/each-payments-database.ts';
import { indexPlans } from '../../support/query-plans.ts';

const SEALED = seals(['a secret that only this test knows, and long']);
const ZONE = 'Europe/Berlin';
/** Days of Berlin around the end of summer time and of a month. */
const SPAN = { first: Date.UTC(2026, 9, 20) / DAY_MS, last: Date.UTC(2026, 10, 5) / DAY_MS };
const periodsOf = (interval: 'day' | 'month', zone = ZONE, span = SPAN) =>
  calendarOf(zone)?.periods(interval, span) ?? [];

eachPaymentsDatabase('totals', ownedTest => {
  const test = ownedTest
    .extend('model', async ({ db, owner }): Promise<PaymentTransaction> => {
      const shop = { ...owner, mode: 'test' } as const;
      const session = await transaction(db, handle => sessionStore(handle, SEALED).open(aSession(shop)));
      await transaction(db, handle =>
        settlement({ handle, seals: SEALED, now: 0 }).simulate(session, 'completed'),
      );
      const [paid] = await transactionStore(db).ofSession(session.id);
      if (paid === undefined) throw new Error('nothing was paid');
      return paid;
    })
    .extend('pay', ({ db, model }) => {
      let made = 0;
      return (changes: Partial<PaymentTransaction>) =>
        transactionStore(db).insert({ ...model, id: newId('txn'), txHash: hash(++made + 1_000), ...changes });
    })
    .extend('refund', ({ db, model }) => (changes: Parameters<typeof aRefund>[1]) => {
      const { chainId, tokenAddress, sessionId, organizationId, mode } = model;
      const completed = { status: 'completed', sessionId, unmatchedTransferId: null } as const;
      return refundStore(db).insert(
        aRefund({ organizationId, mode }, { chainId, tokenAddress, ...completed, ...changes }),
      );
    })
    .extend('total', ({ db, model }) => async (interval: 'day' | 'month') => {
      const totals = await paymentTotals(db, model, periodsOf(interval));
      return Object.fromEntries(
        totals
          .filter(({ tokens }) => tokens.length > 0)
          .map(({ name, tokens }) => [
            name,
            tokens.map(one => [one.payments, one.received, one.refunds, one.refunded]),
          ]),
      );
    });

  test('count a payment on the day of the zone, to the millisecond, also when its clocks change', async ({
    pay,
    total,
  }) => {
    const moments = [
      '2026-10-19T21:59:59.999Z',
      '2026-10-19T22:00:00.000Z',
      '2026-10-24T21:59:59.999Z',
      '2026-10-24T22:00:00.000Z',
      '2026-10-25T22:59:59.999Z',
      '2026-10-25T23:00:00.000Z',
      '2026-10-31T22:59:59.999Z',
      '2026-10-31T23:00:00.000Z',
      '2026-11-05T22:59:59.999Z',
      '2026-11-05T23:00:00.000Z',
    ];
    for (const [index, at] of moments.entries())
      await pay({ createdAt: Date.parse(at), amount: 10n ** BigInt(index) });

    expect(await total('day')).toEqual({
      '2026-10-20': [[1, 10n, 0, 0n]],
      '2026-10-24': [[1, 100n, 0, 0n]],
      '2026-10-25': [[2, 11_000n, 0, 0n]],
      '2026-10-26': [[1, 100_000n, 0, 0n]],
      '2026-10-31': [[1, 1_000_000n, 0, 0n]],
      '2026-11-01': [[1, 10_000_000n, 0, 0n]],
      '2026-11-05': [[1, 100_000_000n, 0, 0n]],
    });
    expect(await total('month')).toEqual({
      '2026-10': [[7, 1_111_111n, 0, 0n]],
      '2026-11': [[3, 1_110_000_000n, 0, 0n]],
    });
  });

  test('count completed payments, and refunds of payments when they were completed', async ({
    model,
    pay,
    refund,
    total,
  }) => {
    const createdAt = Date.UTC(2026, 9, 21);
    await pay({ createdAt, amount: 2n ** 255n });
    await pay({ createdAt, amount: 2n ** 255n, isDuplicate: true });
    for (const status of ['pending', 'confirming', 'failed'] as const) await pay({ createdAt, status });
    const sent = { createdAt, completedAt: Date.UTC(2026, 10, 2) };
    await refund({ ...sent, amount: 5n });
    await refund({ ...sent, amount: 7n, status: 'cancelled' });
    await refund({ ...sent, amount: 9n, status: 'requires_action', completedAt: null });
    await refund({ ...sent, amount: 11n, sessionId: null, unmatchedTransferId: newId('utr') });

    expect(await total('day')).toEqual({
      '2026-10-21': [[2, 2n ** 256n, 0, 0n]],
      '2026-11-02': [[0, 0n, 1, 5n]],
    });
    expect(model.createdAt).toBe(0);
  });

  test('count a refund of an assigned transfer when the transfer counts, or later', async ({
    pay,
    refund,
    total,
  }) => {
    const [october, november] = [Date.UTC(2026, 9, 25), Date.UTC(2026, 10, 2)];
    const [early, late] = [newId('txn'), newId('txn')];
    await pay({ id: early, createdAt: october, amount: 100n });
    await pay({ id: late, createdAt: november, amount: 1_000n });
    const transfer = { unmatchedTransferId: newId('utr') };
    await refund({ ...transfer, transactionId: early, completedAt: november, amount: 5n });
    await refund({ ...transfer, transactionId: late, completedAt: october, amount: 30n });

    expect(await total('month')).toEqual({
      '2026-10': [[1, 100n, 0, 0n]],
      '2026-11': [[1, 1_000n, 2, 35n]],
    });
  });

  test('count a payment after a day that the clocks skipped on its own day', async ({ db, model, pay }) => {
    const dayOf = (date: string) => Date.parse(date) / DAY_MS;
    const span = { first: dayOf('2011-12-28'), last: dayOf('2012-01-02') };
    await pay({ createdAt: Date.parse('2011-12-31T10:00:00Z'), amount: 7n });

    const totals = await paymentTotals(db, model, periodsOf('day', 'Pacific/Apia', span));

    expect(totals.filter(({ tokens }) => tokens.length > 0)).toMatchObject([
      { name: '2012-01-01', tokens: [{ received: 7n }] },
    ]);
  });

  test('are separate per token, and those of an owner only', async ({ db, model, stranger, pay }) => {
    const createdAt = Date.UTC(2026, 10, 2);
    const another = `0x${'0'.repeat(40)}`;
    await pay({ createdAt, amount: 1n });
    await pay({ createdAt, amount: 2n, tokenAddress: another });
    await pay({ createdAt, amount: 4n, ...stranger });
    await pay({ createdAt, amount: 8n, mode: 'live' });

    const totals = await paymentTotals(db, model, periodsOf('month'));

    const tokens = [
      expect.objectContaining({ tokenAddress: another, received: 2n, payments: 1 }),
      expect.objectContaining({ tokenAddress: model.tokenAddress, received: 1n, payments: 1 }),
    ];
    expect(totals.map(one => one.tokens)).toEqual([[], tokens]);
    expect(added(totals.flatMap(one => one.tokens))).toEqual(tokens);
  });

  test('are those that adding up one by one gives', async ({ db, model, pay, refund }) => {
    const record = fc.record({
      at: fc.integer({ min: (SPAN.first - 1) * DAY_MS, max: (SPAN.last + 1) * DAY_MS }),
      amount: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
      isRefund: fc.boolean(),
    });
    const records = fc.sample(record, { numRuns: 60, seed: 11 });
    for (const { at, amount, isRefund } of records)
      await (isRefund ? refund({ completedAt: at, amount }) : pay({ createdAt: at, amount }));

    for (const interval of ['day', 'month'] as const) {
      for (const { from, to, tokens } of await paymentTotals(db, model, periodsOf(interval))) {
        const within = records.filter(({ at }) => at >= from && at < to);
        const sum = (some: typeof records) => some.reduce((all, { amount }) => all + amount, 0n);
        const [refunds, payments] = [within.filter(one => one.isRefund), within.filter(one => !one.isRefund)];
        expect(tokens.map(one => [one.payments, one.received, one.refunds, one.refunded])).toEqual(
          within.length === 0 ? [] : [[payments.length, sum(payments), refunds.length, sum(refunds)]],
        );
      }
    }
  });

  test('read payments from an index', async ({ db, model }) => {
    const plans = await indexPlans(db, () => paymentTotals(db, model, periodsOf('day')));

    // PostgreSQL prefers the smaller index of completed ones while the table is almost empty.
    expect(plans).toMatch(/COVERING INDEX transactions_by_day|Index (Only )?Scan using/);
    expect(plans).not.toMatch(/SCAN transactions(?! USING)|Seq Scan/);
  });
});
