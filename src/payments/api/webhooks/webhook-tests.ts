import type { PaymentsHandlers } from '#contract/contracts/payments.ts';
import { newId } from '#lib/ids.ts';
import { testEventData } from '../../events/test-event.ts';
import { webhookPayload } from '../../events/webhook-payload.ts';
import { type AttemptDeps, makeAttempt } from '../../webhooks/attempt.ts';
import { newDeliveryOf } from '../../webhooks/model/webhook.ts';
import { beginManual, endAttempts } from '../../webhooks/store/attempts.ts';
import { deliveryStore } from '../../webhooks/store/delivery-store.ts';
import { webhookStore } from '../../webhooks/store/webhook-store.ts';
import type { PaymentsContext } from '../gate/api-context.ts';
import type { AnonymousCaller, ApiCaller } from '../gate/caller.ts';
import { notFound } from '../responses/not-found.ts';
import { success } from '../responses/success.ts';

/** Events that are sent to a webhook to try it out, recorded as deliveries of their own. Decision 125. */
export function webhookTestHandlers(
  { seals, clock }: Pick<PaymentsContext, 'seals' | 'clock'>,
  { sender, log }: Pick<AttemptDeps, 'sender' | 'log'>,
): Pick<PaymentsHandlers<ApiCaller, AnonymousCaller>, 'testWebhook'> {
  return {
    testWebhook: ({ path: { webhook_id: webhookId }, body: { event: type } }, caller) =>
      caller.commitAround({
        async begin(handle) {
          const webhook = await webhookStore(handle, seals).find(caller, webhookId);
          if (webhook === undefined) throw notFound('webhook', webhookId);
          const now = clock.now();
          const { organizationId, mode } = webhook;
          const event = { id: newId('evt'), type, organizationId, mode };
          const delivery = newDeliveryOf(event, webhookId, { isTest: true, now });
          const told = { ...event, createdAt: now, data: testEventData(type, now) };
          await deliveryStore(handle, seals).insert([{ delivery, body: webhookPayload(told, webhookId) }]);
          const begun = await beginManual(handle, { seals, now }, caller, { webhookId, id: delivery.id });
          if (begun === undefined || begun === 'not_allowed') {
            throw new Error(`the test ${delivery.id} that was just recorded cannot begin`);
          }
          return begun;
        },
        send: ({ delivery, receiver }) => makeAttempt(delivery, receiver, { sender, clock, log }),
        async end(handle, _, result) {
          await endAttempts(handle, seals, [result], clock.now());
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
  };
}
