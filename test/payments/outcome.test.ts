import { expect, test } from 'vitest';
import { acceptsPayment, type OutcomeFacts, outcomeOf } from '#payments/model/outcome.ts';

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
  ['dropped', { ...SOLD_OUT, paymentStatus: 'failed', failureReason: 'reorged' }],
  ['dropped', { ...PAID, isReorged: true, amountOverpaid: 1n }],
  ['dropped', { ...OPEN, paymentStatus: 'failed', failureReason: 'reorged' }],
  ['failed', { ...OPEN, paymentStatus: 'failed', failureReason: 'reverted' }],
  ['failed', { ...ENDED, paymentStatus: 'failed', failureReason: 'not_found' }],
])('the outcome %s follows from the facts', (outcome, facts) => {
  expect(outcomeOf(facts)).toBe(outcome);
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
