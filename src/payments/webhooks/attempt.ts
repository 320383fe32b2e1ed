import { createHmac, createSecretKey } from 'node:crypto';
import type { ClockAndLog } from '../../lib/logger.ts';
import { attemptId } from '../model/delivery.ts';
import type {
  AttemptResult,
  ClaimedDelivery,
  DeliveryEventType,
  Receiver,
  WebhookSecrets,
} from '../model/webhook.ts';
import type { SendResult, WebhookSender } from './sender.ts';

export interface AttemptDeps extends ClockAndLog {
  readonly sender: WebhookSender;
  /** 0 to 1, and random when absent. */
  readonly chance?: () => number;
}

const NOT_SENT = { isSuccess: false, responseCode: null, responseTimeMs: null, responseBody: null } as const;

/** Sends the attempt that was begun for a delivery and returns its result. Never rejects. */
export async function makeAttempt(
  delivery: ClaimedDelivery,
  receiver: Receiver,
  { sender, clock, log, chance = Math.random }: AttemptDeps,
): Promise<AttemptResult> {
  const { id, token, body } = delivery;
  const result = await sent(delivery, receiver, { sender, clock }).catch((error: unknown): SendResult => {
    log.error({ err: error, deliveryId: id, webhookId: receiver.webhookId }, 'a delivery could not be sent');
    return { ...NOT_SENT, error: 'The request could not be sent.' };
  });
  return {
    ...result,
    id,
    token,
    sentTo: receiver.url,
    sentBody: body,
    endedAt: clock.now(),
    jitter: chance(),
  };
}

async function sent(
  delivery: ClaimedDelivery,
  { webhookId, url, secrets, storeResponses }: Receiver,
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
  return sender.send({ url, headers, body, storeResponses });
}

/** Inputs of the headers of one attempt. */
export interface SignedAttempt {
  readonly webhookId: string;
  readonly deliveryId: string;
  /** 1 for the first. */
  readonly attempt: number;
  readonly eventId: string;
  readonly eventType: DeliveryEventType;
  readonly isTest: boolean;
  /** Start of the attempt, in UTC milliseconds. */
  readonly attemptedAt: number;
  /** The exact text that is sent as UTF-8. */
  readonly body: string;
  /** Each begins with `whsec_`. */
  readonly secrets: WebhookSecrets;
}

const SECRET_PREFIX = 'whsec_';

/**
 * The headers of one attempt, without those of HTTP itself. They carry both signatures (Decision 121), and all attempts
 * have the same body (Decision 122). Source: document 3, "Delivery".
 */
export function attemptHeaders(attempt: SignedAttempt): Record<string, string> {
  const { eventId, attemptedAt, body, secrets } = attempt;
  const { current } = secrets;
  const previous = previousSecretIfValid(secrets, attemptedAt);
  const seconds = Math.floor(attemptedAt / 1000);
  const timed = `${eventId}.${seconds}.${body}`;
  const known = previous === undefined ? [current] : [current, previous];
  return {
    ...stableHeaders(attempt),
    'X-Service-Signature': plainSignature(body, current),
    ...(previous !== undefined && { 'X-Service-Signature-Previous': plainSignature(body, previous) }),
    'X-Service-Timestamp': new Date(attemptedAt).toISOString(),
    'webhook-timestamp': String(seconds),
    'webhook-signature': known.map(secret => standardSignature(timed, secret)).join(' '),
  };
}

/** The headers that do not depend on time or secret. Deliveries are shown without signatures (Decision 250). */
export function stableHeaders(attempt: Omit<SignedAttempt, 'attemptedAt' | 'body' | 'secrets'>) {
  const { webhookId, eventId, eventType, isTest } = attempt;
  return {
    'Content-Type': 'application/json',
    'X-Service-Webhook-Id': webhookId,
    'X-Service-Delivery-Id': attemptId(attempt.deliveryId, attempt.attempt),
    'X-Service-Event-Id': eventId,
    'X-Service-Event': eventType,
    ...(isTest && { 'X-Service-Test': 'true' }),
    'webhook-id': eventId,
  };
}

/** The secret before the last rotation, while it still signs (Decision 121). */
function previousSecretIfValid({ previous }: WebhookSecrets, now: number): string | undefined {
  return previous !== null && now < previous.until ? previous.secret : undefined;
}

/** Signature of document 3, "Authentication", 6. Its key is the text of the secret. */
function plainSignature(body: string, secret: string): string {
  return createHmac('sha256', secret).update(body, 'utf8').digest('hex');
}

/** Signature of Standard Webhooks, "Signature scheme". Its key is the Base64-decoded secret without its prefix. */
function standardSignature(timed: string, secret: string): string {
  if (!secret.startsWith(SECRET_PREFIX)) throw new Error(`a webhook's secret begins with ${SECRET_PREFIX}`);
  // A key object is three times as fast as the same bytes in a buffer.
  const key = createSecretKey(secret.slice(SECRET_PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(timed, 'utf8').digest('base64')}`;
}
