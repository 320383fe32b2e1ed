import { expect, test } from 'vitest';
import { paymentsContract } from '#contract/contracts/payments.ts';
import { responseValidators } from '#contract/mount/response-validators.ts';
import { checkoutCompletedData, checkoutExpiredData, paymentData } from '#payments/events/event-data.ts';
import type { EventType } from '#payments/model/event.ts';
import type { CheckoutSession } from '#payments/model/session.ts';
import { NO_LOG } from '#payments/model/transfer.ts';
import { completed, failed, seenInBlock, unseen } from '#payments/settlement/settling.ts';
import { aSession, aTransfer, hash } from '../../lab/payments-sessions.ts';

const address = {
  name: 'Ada Lovelace',
  line1: "12 St James's Square",
  line2: null,
  city: 'London',
  state: 'England',
  zip: 'SW1Y 4JH',
  country: 'GB',
};
const session: CheckoutSession = {
  ...aSession({ organizationId: 'org_1', mode: 'test' }),
  amountDue: 2_500_000n,
  isWalletOnly: false,
  depositAddress: null,
  subtotal: 2_000_000n,
  metadata: { order: '1042' },
  clientReferenceId: 'order-1042',
  customerEmail: 'ada@example.com',
  customerName: 'Ada Lovelace',
  formData: { size: 'M' },
  shippingAddress: address,
  shippingOption: { id: 'express', name: 'Express', amount: '500000', estimated_days: 2 },
};
const now = session.createdAt + 90_000;
const claim = unseen(
  session,
  { id: 'txn_2cDv6HqJs1YoK4wAiT9fXl8P', txHash: hash(1), matchedBy: 'wallet' },
  now,
);
const confirming = seenInBlock(
  { session, transaction: claim, others: [] },
  aTransfer({ txHash: hash(1), logIndex: NO_LOG }),
  { matchedBy: 'wallet', confirmations: 3 },
  now,
);
const paid = completed({ ...confirming, others: [] }, undefined, now);

test('a completed payment has the payer’s answers under the names of the document', () => {
  expect(paymentData(paid.session, paid.transaction)).toEqual({
    id: claim.id,
    payment_link_id: null,
    session_id: session.id,
    amount: '2500000',
    token_address: session.tokenAddress,
    chain_id: session.chainId,
    sender_address: `0x${'aa'.repeat(20)}`,
    recipient_address: session.recipientAddress,
    tx_hash: hash(1),
    log_index: null,
    status: 'completed',
    failure_reason: null,
    late: false,
    duplicate: false,
    form_data: { size: 'M', email: 'ada@example.com', shipping_address: address },
    discount_code: null,
    created_at: '2026-05-04T12:01:30.000Z',
    completed_at: '2026-05-04T12:01:30.000Z',
    checkoutSession: {
      id: session.id,
      name: 'A cup of coffee',
      outcome: 'paid',
      clientReferenceId: 'order-1042',
      metadata: { order: '1042' },
      customerEmail: 'ada@example.com',
      customerName: 'Ada Lovelace',
    },
  });
});

test('a completed checkout has its price and the payer’s choices', () => {
  expect(checkoutCompletedData(paid.session, paid.transaction)).toMatchObject({
    ...paymentData(paid.session, paid.transaction),
    shipping_address: address,
    shipping_option: { id: 'express' },
    discount: null,
    subtotal: '2000000',
    total: '2500000',
  });
});

test('answers under reserved field names move to another key, and none is lost', () => {
  const answers = { email: 'by post', shipping_address: 7, field_email: true, size: 'M' };
  const without = { ...session, formData: answers, customerEmail: null, shippingAddress: null };
  const asked = { ...session, formData: answers };
  const moved = { field_email: true, field_field_email: 'by post', field_shipping_address: 7, size: 'M' };

  expect(paymentData(without, paid.transaction).form_data).toEqual(moved);
  expect(paymentData(asked, paid.transaction).form_data).toEqual({
    ...moved,
    email: 'ada@example.com',
    shipping_address: address,
  });
});

test('a payment without answers has an empty form without nulls', () => {
  const plain = { ...session, formData: null, customerEmail: null, shippingAddress: null };

  expect(paymentData(plain, paid.transaction).form_data).toEqual({});
});

test('every body is valid by the contract', async () => {
  const judge = responseValidators(paymentsContract.document)('listEvents', 200);
  const named = { ...session, formData: { email: true, shipping_address: 'here' } };
  const lost = failed({ session, transaction: claim, others: [] }, 'not_found', now);
  const bodies: readonly (readonly [EventType, object])[] = [
    ['payment.completed', paymentData(paid.session, paid.transaction)],
    ['payment.completed', paymentData(named, paid.transaction)],
    ['payment.failed', paymentData(lost.session, lost.transaction)],
    ['checkout.completed', checkoutCompletedData(paid.session, paid.transaction)],
    ['checkout.expired', checkoutExpiredData({ ...session, status: 'expired', endedAt: now })],
  ];
  const data = bodies.map(([event, body]) => ({
    object: 'event',
    id: 'evt_8jKl2PoIu5YtR1eWqA4sDf7G',
    mode: 'test',
    event,
    created_at: '2026-05-04T12:01:30.000Z',
    data: body,
  }));

  const isValid = judge?.({ object: 'list', data, has_more: false, total_count: 5, url: '/api/v1/events' });

  expect(judge?.errors ?? []).toEqual([]);
  expect(isValid).toBe(true);
});
