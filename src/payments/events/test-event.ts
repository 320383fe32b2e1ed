import { getAddress } from 'viem';
import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { timestamp } from '../../lib/clock.ts';
import { newId, randomBase62 } from '../../lib/ids.ts';
import type { EventData, EventType } from '../model/event.ts';
import type { DeliveryEventType } from '../model/webhook.ts';

type TestPingData = PaymentsSchemas['TestPingData'];

/** Fields of made-up payments. The addresses belong to no account. */
const MADE_UP = {
  amount: '12500000',
  token_address: `0x${'11'.repeat(20)}`,
  chain_id: 1,
  recipient_address: `0x${'22'.repeat(20)}`,
} as const;
const SENDER = `0x${'33'.repeat(20)}`;
const TX_HASH = `0x${'44'.repeat(32)}`;
const SHIP_TO = {
  name: 'Ada Example',
  line1: '1 Example Street',
  line2: null,
  city: 'Springfield',
  state: 'IL',
  zip: '62701',
  country: 'US',
};
const CUSTOMER = { customerEmail: 'ada@example.com', customerName: 'Ada Example' };
const FORM_DATA = { email: CUSTOMER.customerEmail, shipping_address: SHIP_TO };
const LASTED_MS = 60_000;

/**
 * Data of a test (Decision 125): a short message for `test.ping`, otherwise a made-up payment or session of the minute
 * before `now` (UTC ms).
 */
export function testEventData(type: DeliveryEventType, now: number): EventData | TestPingData {
  if (type === 'test.ping') {
    return { id: `txn_test_${randomBase62(24)}`, message: 'This is a test of the webhook.' };
  }
  if (type === 'transfer.unmatched') return unmatched(now);
  if (type === 'sweep.completed') return sweep(madeUpSession('paid'), now);
  const session = madeUpSession(OUTCOMES[type]);
  if (type === 'checkout.expired') return expired(session, now);
  if (type === 'refund.created') return refundOf(session, 'requires_action', now);
  if (type === 'refund.completed') return refundOf(session, 'completed', now);
  if (type === 'refund.failed') return refundOf(session, 'cancelled', now);
  const mispaid = MISPAID[type];
  if (mispaid !== undefined) return { ...mispaidCheckout(session, now), ...mispaid };
  const payment = paymentOf(session, type === 'payment.failed' ? 'failed' : 'completed', now);
  if (type !== 'checkout.completed') return payment;
  return {
    ...payment,
    shipping_address: SHIP_TO,
    shipping_option: null,
    discount: null,
    subtotal: MADE_UP.amount,
    total: MADE_UP.amount,
    accepted_at: null,
    accepted_by: null,
    accepted_reason: null,
  };
}

type Session = PaymentsSchemas['EventSession'];
type MispaidData = EventData<'checkout.paid_late'>;

/** Outcomes of the made-up sessions. */
const OUTCOMES: Readonly<
  Record<Exclude<EventType, 'transfer.unmatched' | 'sweep.completed'>, Session['outcome']>
> = {
  'payment.completed': 'paid',
  'payment.failed': 'failed',
  'checkout.completed': 'paid',
  'checkout.expired': 'expired',
  'checkout.paid_late': 'paid_late',
  'checkout.overpaid': 'overpaid',
  'checkout.partially_paid': 'partial',
  'refund.created': 'paid',
  'refund.completed': 'paid',
  'refund.failed': 'paid',
};

/** Fields in which the made-up sessions differ. */
const MISPAID: Partial<Record<DeliveryEventType, Partial<MispaidData>>> = {
  'checkout.paid_late': {},
  'checkout.overpaid': { status: 'completed', ended_reason: null, overpaid_amount: MADE_UP.amount },
  'checkout.partially_paid': {
    amount_received: '5000000',
    transaction_id: null,
    transaction_amount: null,
    sender_address: null,
    tx_hash: null,
  },
};

function mispaidCheckout(session: Session, now: number): MispaidData {
  return {
    id: session.id,
    payment_link_id: newId('pl'),
    status: 'expired',
    ended_reason: 'time',
    ...MADE_UP,
    amount_received: MADE_UP.amount,
    payment_tolerance: 0,
    transaction_id: newId('txn'),
    transaction_amount: MADE_UP.amount,
    overpaid_amount: null,
    sender_address: SENDER,
    tx_hash: TX_HASH,
    form_data: FORM_DATA,
    shipping_address: SHIP_TO,
    created_at: timestamp(now - LASTED_MS),
    expires_at: timestamp(now),
    checkoutSession: session,
  };
}

function unmatched(now: number): EventData<'transfer.unmatched'> {
  return {
    id: newId('utr'),
    ...MADE_UP,
    sender_address: SENDER,
    tx_hash: TX_HASH,
    log_index: 0,
    block_number: 1,
    block_timestamp: timestamp(now - LASTED_MS),
    suggested_session_id: null,
    checkoutSession: null,
  };
}

function sweep(session: Session, now: number): EventData<'sweep.completed'> {
  return {
    id: `${TX_HASH}:0`,
    deposit_address: getAddress(`0x${'55'.repeat(20)}`),
    ...MADE_UP,
    tx_hash: TX_HASH,
    log_index: 0,
    block_number: 1,
    block_timestamp: timestamp(now - LASTED_MS),
    checkoutSession: session,
  };
}

function paymentOf(
  session: Session,
  status: 'completed' | 'failed',
  now: number,
): EventData<'payment.completed'> {
  const isFailed = status === 'failed';
  return {
    id: newId('txn'),
    payment_link_id: newId('pl'),
    session_id: session.id,
    ...MADE_UP,
    sender_address: SENDER,
    tx_hash: TX_HASH,
    log_index: 0,
    status,
    failure_reason: isFailed ? 'reverted' : null,
    late: false,
    duplicate: false,
    form_data: FORM_DATA,
    discount_code: null,
    created_at: timestamp(now - LASTED_MS),
    completed_at: isFailed ? null : timestamp(now),
    checkoutSession: session,
  };
}

function expired(session: Session, now: number): EventData<'checkout.expired'> {
  return {
    id: session.id,
    payment_link_id: newId('pl'),
    ...MADE_UP,
    status: 'expired',
    ended_reason: 'time',
    created_at: timestamp(now - LASTED_MS),
    expired_at: timestamp(now),
    checkoutSession: session,
  };
}

function refundOf(
  session: Session,
  status: 'requires_action' | 'completed' | 'cancelled',
  now: number,
): EventData<'refund.created'> {
  const { recipient_address: _, ...money } = MADE_UP;
  const endedAt = (ended: typeof status) => (status === ended ? timestamp(now) : null);
  return {
    id: newId('re'),
    status,
    session_id: session.id,
    transaction_id: null,
    unmatched_transfer_id: null,
    ...money,
    destination_address: SENDER,
    destination_source: 'signed_wallet',
    destination_proved: true,
    tx_hash: status === 'completed' ? TX_HASH : null,
    failure_reason: status === 'cancelled' ? 'cancelled' : null,
    reason: 'Made up for a test',
    created_at: timestamp(now - LASTED_MS),
    completed_at: endedAt('completed'),
    cancelled_at: endedAt('cancelled'),
    checkoutSession: session,
  };
}

function madeUpSession(outcome: Session['outcome']): Session {
  const references = { clientReferenceId: 'order-1001', metadata: { test: 'true' } };
  return { id: newId('cs'), name: 'An example', outcome, ...references, ...CUSTOMER };
}
