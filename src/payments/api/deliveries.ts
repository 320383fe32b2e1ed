import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { paymentsError } from '../../contract/contracts/payments-errors.ts';
import { timestamp } from '../../lib/clock.ts';
import { newId } from '../../lib/ids.ts';
import { webhookPayload } from '../events/event-data.ts';
import { testEventData } from '../events/test-event.ts';
import { included } from '../keys/api-key.ts';
import { isFinal } from '../model/delivery.ts';
import { type Delivery, type DeliveryAttempt, newDeliveryOf } from '../model/webhook.ts';
import { type AttemptDeps, makeAttempt, stableHeaders } from '../webhooks/attempt.ts';
import { beginManual, endAttempts } from '../webhooks/attempt-lifecycle.ts';
import { attemptStore } from '../webhooks/store/attempt-store.ts';
import { deliveryStore } from '../webhooks/store/delivery-store.ts';
import { webhookStore } from '../webhooks/store/webhook-store.ts';
import type { ApiHandlers, PaymentsContext } from './gate/api-context.ts';
import { nullableTimestamp, periodOf, resourceNotFound, success, successPage } from './responses/answers.ts';

/** Operations on deliveries. A failed one is retried on schedule or by hand (Decisions 119, 123 and 125). */
export function deliveryHandlers(
  { db, seals, clock }: Pick<PaymentsContext, 'db' | 'seals' | 'clock'>,
  { sender, log }: Pick<AttemptDeps, 'sender' | 'log'>,
) {
  return {
    async listWebhookDeliveries({ path: { webhook_id: id }, query }, caller) {
      const { status, event_type: eventType, event_id: eventId, page, limit, ...period } = query;
      const webhook = await webhookStore(db, seals).find(caller, id);
      if (webhook === undefined) throw resourceNotFound('webhook', id);
      const store = deliveryStore(db, seals);
      const filters = { status, eventType, eventId, ...periodOf(period) };
      const deliveries = await store.list(caller, id, filters, { page, limit });
      return { status: 200, body: successPage(deliveries, one => deliveryRecord(one, webhook)) };
    },

    async getWebhookDelivery({ path: { webhook_id: webhookId, delivery_id: id } }, caller) {
      const webhook = await webhookStore(db, seals).find(caller, webhookId);
      if (webhook === undefined) throw resourceNotFound('webhook', webhookId);
      const delivery = await deliveryStore(db, seals).findWithBody(caller, webhookId, id);
      if (delivery === undefined) throw resourceNotFound('webhook_delivery', id);
      const attempt = { ...delivery, deliveryId: id, attempt: Math.max(1, delivery.attempts) };
      const request = { request_headers: stableHeaders(attempt), request_body: delivery.body };
      const maySeeAnswers = included(caller.permission).includes('admin');
      const results = (await attemptStore(db, seals).listOf(id)).map(one => attemptBody(one, maySeeAnswers));
      const body = { ...deliveryRecord(delivery, webhook), ...request, attempt_results: results };
      return { status: 200, body: success(body) };
    },

    retryWebhookDelivery: ({ path: { webhook_id: webhookId, delivery_id: id } }, caller) =>
      caller.commitAround({
        async begin(handle) {
          const begun = await beginManual(handle, { seals, now: clock.now() }, caller, { webhookId, id });
          if (begun === 'not_allowed') throw notFailed();
          if (begun !== undefined) return begun;
          const webhook = await webhookStore(handle, seals).find(caller, webhookId);
          throw webhook === undefined
            ? resourceNotFound('webhook', webhookId)
            : resourceNotFound('webhook_delivery', id);
        },
        send: ({ delivery, receiver }) => makeAttempt(delivery, receiver, { sender, clock, log }),
        async end(handle, { delivery: { attempts } }, result) {
          await endAttempts(handle, seals, [result], { now: clock.now() });
          const { isSuccess, responseCode } = result;
          const sent = { delivery_id: id, status: 'sent', response_code: responseCode, attempts } as const;
          return { status: 200, body: success({ ...sent, success: isSuccess }) };
        },
      }),
  } satisfies ApiHandlers;
}

/** Operation that sends a test event, recorded as a delivery of its own (Decision 125). */
export function webhookTestHandlers(
  { seals, clock }: Pick<PaymentsContext, 'seals' | 'clock'>,
  { sender, log }: Pick<AttemptDeps, 'sender' | 'log'>,
) {
  return {
    testWebhook: ({ path: { webhook_id: webhookId }, body: { event: type } }, caller) =>
      caller.commitAround({
        async begin(handle) {
          const webhook = await webhookStore(handle, seals).find(caller, webhookId);
          if (webhook === undefined) throw resourceNotFound('webhook', webhookId);
          const now = clock.now();
          const { organizationId, mode } = webhook;
          const event = { id: newId('evt'), type, organizationId, mode };
          const delivery = newDeliveryOf(event, webhookId, { isTest: true, now });
          const testEvent = { ...event, createdAt: now, data: testEventData(type, now) };
          await deliveryStore(handle, seals).insert([
            { delivery, body: webhookPayload(testEvent, webhookId) },
          ]);
          const begun = await beginManual(handle, { seals, now }, caller, { webhookId, id: delivery.id });
          if (begun === undefined || begun === 'not_allowed') {
            throw new Error(`the test ${delivery.id} that was just recorded cannot begin`);
          }
          return begun;
        },
        send: ({ delivery, receiver }) => makeAttempt(delivery, receiver, { sender, clock, log }),
        async end(handle, _, result) {
          await endAttempts(handle, seals, [result], { now: clock.now() });
          const { id, isSuccess, responseCode } = result;
          const sent = {
            delivery_id: id,
            status: 'sent',
            response_code: responseCode,
            success: isSuccess,
          } as const;
          return { status: 200, body: success(sent) };
        },
      }),
  } satisfies ApiHandlers;
}

function notFailed() {
  return paymentsError(
    'invalid_status_transition',
    'Only a failed delivery can be retried, and not while an attempt is under way.',
  );
}

/**
 * A delivery in the contract's form. A delivery to an inactive webhook is held and has no next attempt (Decisions 123
 * and 124).
 */
function deliveryRecord(
  delivery: Delivery,
  { isActive }: { isActive: boolean },
): PaymentsSchemas['WebhookDelivery'] {
  return {
    object: 'webhook_delivery',
    id: delivery.id,
    webhook_id: delivery.webhookId,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    event: delivery.eventType,
    status: delivery.status,
    is_final: isFinal(delivery),
    is_test: delivery.isTest,
    response_code: delivery.responseCode,
    response_time_ms: delivery.responseTimeMs,
    attempts: delivery.attempts,
    last_error: delivery.lastError,
    next_attempt_at: nullableTimestamp(isActive ? delivery.nextAttemptAt : null),
    created_at: timestamp(delivery.createdAt),
  };
}

function attemptBody(attempt: DeliveryAttempt, maySeeAnswers: boolean): PaymentsSchemas['DeliveryAttempt'] {
  return {
    attempt: attempt.number,
    ended_at: timestamp(attempt.endedAt),
    response_code: attempt.responseCode,
    response_time_ms: attempt.responseTimeMs,
    error: attempt.error,
    response_body: maySeeAnswers ? attempt.responseBody : null,
  };
}
