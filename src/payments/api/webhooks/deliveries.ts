import type { PaymentsHandlers } from '#contract/contracts/payments.ts';
import { paymentsError } from '#contract/contracts/payments-errors.ts';
import { type AttemptDeps, makeAttempt } from '../../webhooks/attempt.ts';
import { beginManual, endAttempts } from '../../webhooks/store/attempts.ts';
import { deliveryStore } from '../../webhooks/store/delivery-store.ts';
import { webhookStore } from '../../webhooks/store/webhook-store.ts';
import type { PaymentsContext } from '../gate/api-context.ts';
import type { AnonymousCaller, ApiCaller } from '../gate/caller.ts';
import { deliveryRecord } from '../responses/delivery-record.ts';
import { notFound } from '../responses/not-found.ts';
import { success } from '../responses/success.ts';

type Handlers = Pick<
  PaymentsHandlers<ApiCaller, AnonymousCaller>,
  'listWebhookDeliveries' | 'retryWebhookDelivery'
>;

/** What was sent to a webhook, and sending it again by hand. Decisions 119, 123 and 125. */
export function deliveryHandlers(
  { db, seals, clock }: Pick<PaymentsContext, 'db' | 'seals' | 'clock'>,
  { sender, log }: Pick<AttemptDeps, 'sender' | 'log'>,
): Handlers {
  return {
    async listWebhookDeliveries({ path: { webhook_id: id }, query }, caller) {
      const { status, event_type: eventType, page, limit } = query;
      const webhook = await webhookStore(db, seals).find(caller, id);
      if (webhook === undefined) throw notFound('webhook', id);
      const store = deliveryStore(db, seals);
      const { data } = await store.list(caller, id, { status, eventType }, { page, limit });
      return { status: 200, body: success(data.map(one => deliveryRecord(one, webhook))) };
    },

    retryWebhookDelivery: ({ path: { webhook_id: webhookId, delivery_id: id } }, caller) =>
      caller.commitAround({
        async begin(handle) {
          const begun = await beginManual(handle, { seals, now: clock.now() }, caller, { webhookId, id });
          if (begun === 'not_allowed') throw notFailed();
          if (begun !== undefined) return begun;
          const webhook = await webhookStore(handle, seals).find(caller, webhookId);
          throw webhook === undefined ? notFound('webhook', webhookId) : notFound('webhook_delivery', id);
        },
        send: ({ delivery, receiver }) => makeAttempt(delivery, receiver, { sender, clock, log }),
        async end(handle, { delivery: { attempts } }, result) {
          await endAttempts(handle, seals, [result], clock.now());
          const { isSuccess, responseCode } = result;
          const sent = { delivery_id: id, status: 'sent', response_code: responseCode, attempts } as const;
          return { status: 200, body: success({ ...sent, success: isSuccess }) };
        },
      }),
  };
}

function notFailed() {
  return paymentsError(
    'invalid_status_transition',
    'Only a failed delivery can be retried, and not while an attempt is under way.',
  );
}
