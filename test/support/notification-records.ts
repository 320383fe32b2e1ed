import { newId } from '../../src/lib/ids.ts';
import type { EventData, PaymentEvent } from '../../src/payments/model/event.ts';
import {
  defaultSettings,
  type Notice,
  type NotificationSettings,
} from '../../src/payments/model/notification.ts';
import type { Owner } from '../../src/payments/model/owner.ts';
import { NATIVE_COIN, paymentChains } from '../../src/payments/model/payment-chain.ts';
import { RECORD_TIME } from '../lab/payments-records.ts';

const USDC = `0x${'70'.repeat(20)}`;

/** A live chain with a token and its coin. */
export const BASE = paymentChains([
  {
    id: 8453,
    name: 'Base',
    mode: 'live',
    tokens: [
      { address: NATIVE_COIN, symbol: 'ETH', decimals: 18 },
      { address: USDC, symbol: 'USDC', decimals: 6 },
    ],
    confirmations: 3,
    explorerUrl: hash => `https://explorer.example/tx/${hash}?a=1&b=2`,
  },
]);

/** Data of `payment.completed` for 2.5 USDC on Base. */
export function paymentFacts(
  changes: Partial<EventData<'payment.completed'>> = {},
): EventData<'payment.completed'> {
  return {
    id: newId('txn'),
    payment_link_id: newId('pl'),
    session_id: newId('cs'),
    amount: '2500000',
    token_address: USDC,
    chain_id: 8453,
    sender_address: `0x${'c1'.repeat(20)}`,
    recipient_address: `0x${'5e'.repeat(20)}`,
    tx_hash: `0x${'ab'.repeat(32)}`,
    log_index: 1,
    status: 'completed',
    failure_reason: null,
    late: false,
    duplicate: false,
    form_data: {},
    discount_code: null,
    created_at: new Date(RECORD_TIME).toISOString(),
    completed_at: new Date(RECORD_TIME).toISOString(),
    checkoutSession: {
      id: newId('cs'),
      name: 'Field notebooks',
      outcome: 'paid',
      clientReferenceId: 'order-1042',
      metadata: {},
      customerEmail: 'ada@example.com',
      customerName: 'Ada Lovelace',
    },
    ...changes,
  };
}

/** `payment.completed` at `RECORD_TIME`. */
export function aPaymentEvent(
  { organizationId, mode }: Owner,
  changes: Partial<PaymentEvent> = {},
): PaymentEvent {
  return {
    id: newId('evt'),
    organizationId,
    mode,
    type: 'payment.completed',
    createdAt: RECORD_TIME,
    data: paymentFacts(),
    ...changes,
  };
}

/** A mail about a payment, due since `RECORD_TIME`. */
export function aNotice(owner: Owner, changes: Partial<Notice> = {}): Notice {
  const { organizationId, mode } = owner;
  return {
    id: newId('ntc'),
    organizationId,
    mode,
    channel: 'email',
    payload: { kind: 'payment', event: aPaymentEvent(owner) },
    attempts: 0,
    createdAt: RECORD_TIME,
    ...changes,
  };
}

/** Settings with both channels on. */
export function everythingOn(
  owner: Owner,
  changes: Partial<NotificationSettings> = {},
): NotificationSettings {
  return {
    ...defaultSettings(owner, RECORD_TIME),
    emailEnabled: true,
    emailAddress: 'orders@books.example',
    messengerEnabled: true,
    messengerChatId: '5092331',
    messengerUsername: 'cornerbooks',
    ...changes,
  };
}
