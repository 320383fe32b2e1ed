import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { AttemptResult, ClaimedDelivery, Receiver } from './model/webhook.ts';
import type { SendResult, WebhookSender } from './sender.ts';
import { attemptHeaders } from './sign.ts';

export interface AttemptDeps {
  readonly sender: WebhookSender;
  readonly clock: Clock;
  readonly log: Logger;
  /** 0 to 1, and random when absent. */
  readonly chance?: () => number;
}

const NOT_SENT = { isSuccess: false, responseCode: null, responseTimeMs: null } as const;

/** Makes the attempt that was begun for a delivery, and answers with what came of it. Never rejects. */
export async function makeAttempt(
  delivery: ClaimedDelivery,
  receiver: Receiver,
  { sender, clock, log, chance = Math.random }: AttemptDeps,
): Promise<AttemptResult> {
  const { id, token } = delivery;
  const result = await sent(delivery, receiver, { sender, clock }).catch((error: unknown): SendResult => {
    log.error({ err: error, deliveryId: id, webhookId: receiver.webhookId }, 'a delivery could not be sent');
    return { ...NOT_SENT, error: 'The request could not be sent.' };
  });
  return { ...result, id, token, sentTo: receiver.url, endedAt: clock.now(), jitter: chance() };
}

async function sent(
  delivery: ClaimedDelivery,
  { webhookId, url, secrets }: Receiver,
  { sender, clock }: Pick<AttemptDeps, 'sender' | 'clock'>,
): Promise<SendResult> {
  const { id: deliveryId, attempts, eventId, eventType, isTest, body } = delivery;
  const headers = attemptHeaders({
    webhookId,
    deliveryId,
    attempt: attempts,
    eventId,
    eventType,
    isTest,
    attemptedAt: clock.now(),
    body,
    secrets,
  });
  return sender.send({ url, headers, body });
}
