import { expect, test } from 'vitest';
import { uintColumn } from '#db/columns.ts';
import { openDatabase } from '#db/open.ts';
import { rowsOf } from '#db/query.ts';
import { ENGLISH } from '#payments/browser/languages/en.ts';
import { payerWords } from '#payments/browser/outcome-words.ts';
import { acceptsPayment, OUTCOME_SQL, type OutcomeFacts, outcomeOf } from '#payments/model/outcome.ts';
import { bothDatabases } from '../support/databases.ts';

const OPEN: OutcomeFacts = {
  status: 'active',
  paymentStatus: 'awaiting_payment',
  amountOverpaid: 0n,
  isReorged: false,
  failureReason: null,
  endedReason: null,
};
const ENDED = { ...OPEN, status: 'expired' } as const;
const SOLD_OUT = { ...ENDED, endedReason: 'sold_out' } as const;
const PAID = { ...OPEN, status: 'completed', paymentStatus: 'paid' } as const;
const UNHINDERED = { hasUse: true, isChainLate: false };

test.each<[outcome: string, facts: OutcomeFacts]>([
  ['waiting', OPEN],
  ['expired', ENDED],
  ['confirming', { ...OPEN, paymentStatus: 'confirming' }],
  ['confirming', { ...ENDED, paymentStatus: 'confirming' }],
  ['partial', { ...OPEN, paymentStatus: 'underpaid' }],
  ['partial', { ...ENDED, paymentStatus: 'underpaid' }],
  ['paid', PAID],
  ['overpaid', { ...PAID, amountOverpaid: 1n }],
  ['paid_late', { ...ENDED, paymentStatus: 'paid', amountOverpaid: 1n }],
  ['paid_late', { ...OPEN, paymentStatus: 'paid' }],
  ['sold_out', SOLD_OUT],
  ['sold_out', { ...SOLD_OUT, paymentStatus: 'failed', failureReason: 'reverted' }],
  ['paid_sold_out', { ...SOLD_OUT, paymentStatus: 'paid' }],
  ['paid_unproven', { ...ENDED, endedReason: 'unproven', paymentStatus: 'paid' }],
  ['dropped', { ...SOLD_OUT, paymentStatus: 'failed', failureReason: 'reorged' }],
  ['dropped', { ...PAID, isReorged: true, amountOverpaid: 1n }],
  ['dropped', { ...OPEN, paymentStatus: 'failed', failureReason: 'reorged' }],
  ['failed', { ...OPEN, paymentStatus: 'failed', failureReason: 'reverted' }],
  ['failed', { ...ENDED, paymentStatus: 'failed', failureReason: 'not_found' }],
])('the outcome %s follows from the facts', (outcome, facts) => {
  expect(outcomeOf(facts)).toBe(outcome);
});

const EACH_FACTS = (['active', 'completed', 'expired'] as const).flatMap(status =>
  (['awaiting_payment', 'confirming', 'paid', 'underpaid', 'failed'] as const).flatMap(paymentStatus =>
    ([null, 'time', 'merchant', 'sold_out', 'link_deleted', 'unproven'] as const).flatMap(endedReason =>
      ([null, 'reverted', 'reorged'] as const).flatMap(failureReason =>
        [false, true].flatMap(isReorged =>
          [0n, 1n].map(amountOverpaid => {
            return { status, paymentStatus, endedReason, failureReason, isReorged, amountOverpaid };
          }),
        ),
      ),
    ),
  ),
);

bothDatabases('the database', databases => {
  test('decides each outcome as the model does', async () => {
    const db = openDatabase(await databases.create());
    const text = (value: string | null) => (value === null ? 'null' : `'${value}'`);
    const rows = EACH_FACTS.map((one, id) =>
      [
        ...[id, text(one.status), text(one.paymentStatus), text(one.endedReason), text(one.failureReason)],
        ...[one.isReorged, text(uintColumn(one.amountOverpaid))],
      ].join(', '),
    );

    const decided = await rowsOf<{ outcome: string }>(
      db,
      `with facts (id, status, payment_status, ended_reason, failure_reason, is_reorged, amount_overpaid) as (
         values (${rows.join('), (')})
       ) select ${OUTCOME_SQL} as outcome from facts order by id`,
    );

    expect(decided.map(({ outcome }) => outcome)).toEqual(EACH_FACTS.map(outcomeOf));
    await db.destroy();
  });
});

test('an open checkout takes money unless it is sold out, its chain late or its payment seen', () => {
  const failed: OutcomeFacts = { ...OPEN, paymentStatus: 'failed', failureReason: 'reverted' };

  expect(acceptsPayment(OPEN, UNHINDERED)).toBe(true);
  expect(acceptsPayment(failed, UNHINDERED)).toBe(true);
  expect(acceptsPayment(OPEN, { ...UNHINDERED, hasUse: false })).toBe(false);
  expect(acceptsPayment(OPEN, { ...UNHINDERED, isChainLate: true })).toBe(false);
  expect(acceptsPayment({ ...OPEN, paymentStatus: 'confirming' }, UNHINDERED)).toBe(false);
  expect(acceptsPayment({ ...OPEN, paymentStatus: 'paid' }, UNHINDERED)).toBe(false);
  expect(acceptsPayment(ENDED, UNHINDERED)).toBe(false);
  expect(acceptsPayment(PAID, UNHINDERED)).toBe(false);
});

test('the payer of a part that is about to be sent back reads that it does not count', () => {
  const facts = {
    merchant: 'Acme',
    price: '5 USDC',
    received: '3 USDC',
    missing: '5 USDC',
    tooMuch: '',
    sentBack: '',
    returning: '3 USDC',
    confirmations: '',
    status: 'active',
    canPay: true,
    isLate: false,
    failureReason: null,
  } as const;

  expect(payerWords('partial', facts, ENGLISH)).toEqual({
    title: '5 USDC still to pay',
    text: '3 USDC of 5 USDC received. Acme is sending 3 USDC back.',
  });
});

test('several payments that could be the payer’s are counted if they are of one amount, and listed otherwise', () => {
  const textOf = (...amounts: string[]) =>
    ENGLISH.candidates.text({ amounts, isOnly: false, isOpen: true, merchant: 'Acme' });

  expect(textOf('5 USDS', '5 USDS')).toMatch(/^2 payments of 5 USDS arrived\. If one of them was yours,/);
  expect(textOf('5 USDS', '4 USDS')).toMatch(/^Payments of 5 USDS and 4 USDS arrived\. If one of them/);
});
