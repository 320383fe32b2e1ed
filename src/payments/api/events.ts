import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { timestamp } from '../../lib/clock.ts';
import { EVENT_LIFETIME_MS, eventStore } from '../events/event-store.ts';
import type { EventData, EventType, PaymentEvent } from '../model/event.ts';
import type { ApiHandlers, PaymentsContext } from './gate/api-context.ts';
import { pagedList, periodOf, resourceNotFound } from './responses/answers.ts';

/** Operations on events, for receivers that missed some. */
export function eventHandlers({ db, seals, clock }: PaymentsContext) {
  return {
    async listEvents({ query: { type, session_id: sessionId, page, limit, ...period } }, caller) {
      const { from = Number.NEGATIVE_INFINITY, to } = periodOf(period);
      const filters = { type, sessionId, since: Math.max(from, clock.now() - EVENT_LIFETIME_MS), to };
      const events = await eventStore(db, seals).list(caller, filters, { page, limit });
      return { status: 200, body: pagedList('/api/v1/events', events, eventBody) };
    },

    async getEvent({ path: { event_id } }, caller) {
      const event = await eventStore(db, seals).find(caller, event_id);
      const isStored = event !== undefined && event.createdAt >= clock.now() - EVENT_LIFETIME_MS;
      if (!isStored) throw resourceNotFound('event', event_id);
      return { status: 200, body: eventBody(event) };
    },
  } satisfies ApiHandlers;
}

/** An event in the contract's form, with the data that its receivers got (Decisions 113 and 117). */
function eventBody(event: PaymentEvent): PaymentsSchemas['EventRecord'] {
  const head = { object: 'event', id: event.id, mode: event.mode } as const;
  const created_at = timestamp(event.createdAt);
  if (isOf(event, 'payment.completed') || isOf(event, 'payment.failed'))
    return { ...head, event: event.type, created_at, data: event.data };
  if (isOf(event, 'checkout.completed'))
    return { ...head, event: 'checkout.completed', created_at, data: event.data };
  if (isOf(event, 'checkout.expired'))
    return { ...head, event: 'checkout.expired', created_at, data: event.data };
  if (isOf(event, 'refund.created') || isOf(event, 'refund.completed') || isOf(event, 'refund.failed'))
    return { ...head, event: event.type, created_at, data: event.data };
  if (
    isOf(event, 'checkout.paid_late') ||
    isOf(event, 'checkout.overpaid') ||
    isOf(event, 'checkout.partially_paid')
  )
    return { ...head, event: event.type, created_at, data: event.data };
  if (isOf(event, 'sweep.completed'))
    return { ...head, event: 'sweep.completed', created_at, data: event.data };
  if (isOf(event, 'transfer.unmatched'))
    return { ...head, event: 'transfer.unmatched', created_at, data: event.data };
  throw new RangeError(`The event type ${event.type} is unknown.`);
}

/** Narrows an event by its type. Events are recorded with the data of their type. */
function isOf<Type extends EventType>(
  event: PaymentEvent,
  type: Type,
): event is PaymentEvent & { readonly type: Type; readonly data: EventData<Type> } {
  return event.type === type;
}
