import { randomBytes } from 'node:crypto';
import { newId } from '../../src/lib/ids.ts';
import type { EventType, PaymentEvent } from '../../src/payments/model/event.ts';
import type { Owner } from '../../src/payments/model/owner.ts';
import {
  type Delivery,
  NEW_ACTIVITY,
  newDeliveryOf,
  type Webhook,
} from '../../src/payments/model/webhook.ts';
import { RECORD_TIME } from '../lab/payments-records.ts';

/** An active webhook for all events, created at `RECORD_TIME`. */
export function aWebhook({ organizationId, mode }: Owner, changes: Partial<Webhook> = {}): Webhook {
  return {
    ...NEW_ACTIVITY,
    id: newId('wh'),
    organizationId,
    mode,
    url: 'https://receiver.example/hooks',
    events: ['*'],
    description: null,
    storeResponses: false,
    previousSecretUntil: null,
    lastTriggeredAt: null,
    createdAt: RECORD_TIME,
    updatedAt: RECORD_TIME,
    ...changes,
  };
}

/** A secret of a webhook. */
export function aSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** A delivery of an event for a webhook, due since `now`. */
export function aDelivery(webhook: Webhook, changes: Partial<Delivery> = {}): Delivery {
  const event = { ...webhook, id: newId('evt'), type: 'payment.completed' } as const;
  return { ...newDeliveryOf(event, webhook.id, { isTest: false, now: RECORD_TIME }), ...changes };
}

/** An event of a session that has expired, or of another type with the same data, at `RECORD_TIME`. */
export function anEvent({ organizationId, mode }: Owner, changes: Partial<PaymentEvent> = {}): PaymentEvent {
  return {
    id: newId('evt'),
    organizationId,
    mode,
    type: 'checkout.expired' satisfies EventType,
    createdAt: RECORD_TIME,
    data: {
      id: newId('cs'),
      payment_link_id: null,
      amount: '2500000',
      token_address: `0x${'70'.repeat(20)}`,
      chain_id: 31_337,
      recipient_address: `0x${'5e'.repeat(20)}`,
      status: 'expired',
      ended_reason: 'time',
      created_at: new Date(RECORD_TIME).toISOString(),
      expired_at: new Date(RECORD_TIME).toISOString(),
      checkoutSession: {
        id: newId('cs'),
        name: null,
        outcome: 'expired',
        clientReferenceId: null,
        metadata: {},
        customerEmail: null,
        customerName: null,
      },
    },
    ...changes,
  };
}
