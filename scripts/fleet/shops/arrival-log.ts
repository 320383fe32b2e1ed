import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { PaymentsDeliveries, PaymentsSchemas } from '../../../src/contract/contracts/payments.ts';
import type { Arrival } from './receivers.ts';
import type { Hook, Shop } from './shops.ts';

type Event = PaymentsSchemas['EventRecord'];
type Delivery = PaymentsDeliveries[Event['event']];

/**
 * Judges the arrivals for one shop, and returns a line for each mistake. Detects a body that changes between attempts.
 */
export function arrivalJudge(shop: Shop, events: readonly Event[]): (arrival: Arrival) => string[] {
  const byId = new Map(events.map(event => [event.id, event]));
  const byPath = new Map(shop.hooks.map(hook => [hook.path, hook]));
  const hashes = new Map<string, string>();

  return arrival => {
    const { path, headers, body } = arrival;
    const hook = byPath.get(path);
    if (hook === undefined) return [`${path}: nothing may arrive here`];
    const wrong = mistakesOfSignature(arrival, hook);
    const told: Delivery = JSON.parse(body.toString());
    const event = byId.get(told.id);
    const key = `${path} ${told.id}`;
    const hash = createHash('sha256').update(body).digest('hex');
    if ((hashes.get(key) ?? hash) !== hash) wrong.push('the body differs from an earlier attempt');
    hashes.set(key, hash);
    if (event === undefined) wrong.push('the event is not in the list of its organization');
    else if (!isTheSame(told, event)) wrong.push('the body differs from the list of events');
    // Transfers that were matched with nothing have no session.
    const session = told.data.checkoutSession;
    if (session !== null && !shop.sessions.has(session.id))
      wrong.push('the session is not of this organization');
    if (!hook.isSubscribed(told.event)) wrong.push(`the webhook is not subscribed to ${told.event}`);
    const named = [headers['x-service-webhook-id'], told.webhook_id];
    if (named.some(id => id !== hook.id))
      wrong.push(`header and body name the webhooks ${named.join(' and ')}`);
    if (headers['x-service-event-id'] !== told.id) wrong.push('the header names another event than the body');
    return wrong.map(mistake => `${key}: ${mistake}`);
  };
}

function isTheSame(told: Delivery, event: Event): boolean {
  return (
    told.event === event.event &&
    told.timestamp === event.created_at &&
    isDeepStrictEqual(told.data, event.data)
  );
}

/** Checks both signatures, computed from their documentation and not by the code under test. */
function mistakesOfSignature({ headers, body }: Arrival, { secret }: Hook): string[] {
  const plain = createHmac('sha256', secret).update(body).digest('hex');
  const timed = createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
    .update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`)
    .update(body)
    .digest('base64');
  const mistakes: string[] = [];
  if (!isEqual(headers['x-service-signature'], plain)) mistakes.push('X-Service-Signature is wrong');
  if (!isEqual(headers['webhook-signature'], `v1,${timed}`)) mistakes.push('webhook-signature is wrong');
  return mistakes;
}

function isEqual(given: string | string[] | undefined, expected: string): boolean {
  const [a, b] = [Buffer.from(String(given)), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
