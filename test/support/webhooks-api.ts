import { setTimeout as delay } from 'node:timers/promises';
import { list, record, text } from '../lab/json.ts';
import { PATIENCE_MS } from '../lab/until.ts';
import type { ManualClock } from './manual-clock.ts';
import { type ApiAnswer, type ApiClient, PLACE } from './payments-api.ts';

export const WEBHOOKS = '/api/v1/webhooks';

/** The record in an answer about webhooks. */
export function dataOf({ body }: ApiAnswer): Record<string, unknown> {
  return record(record(body).data);
}

/** The records in a list of webhooks or deliveries, the newest first. */
export function listOf({ body }: ApiAnswer): Record<string, unknown>[] {
  return list(record(body).data).map(record);
}

/** Creates a webhook, by default for `payment.completed`; returns it with its secret. */
export async function newWebhook(
  shop: ApiClient,
  fields: object,
): Promise<{ id: string; secret: string; path: string; data: Record<string, unknown> }> {
  const answer = await shop.post(WEBHOOKS, { events: ['payment.completed'], ...fields });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  const data = dataOf(answer);
  const id = text(data.id);
  return { id, secret: text(data.secret), path: `${WEBHOOKS}/${id}`, data };
}

/** Simulates a payment, with the events of a real one; returns the session's id. */
export async function pay(shop: ApiClient, session: object = {}): Promise<string> {
  const terms = { ...PLACE, amount: '2000' };
  const opened = await shop.post('/api/v1/checkout-sessions', { ...terms, ...session });
  if (opened.status !== 201) throw new Error(JSON.stringify(opened.body));
  const id = text(record(opened.body).id);
  const paid = await shop.post(`/api/v1/test/sessions/${id}/simulate`, { outcome: 'completed' });
  if (paid.status !== 200) throw new Error(JSON.stringify(paid.body));
  return id;
}

/** Advances time in small steps, which wake workers, until a value is as required; at most half a real minute. */
export async function untilTold<Value>(
  clock: ManualClock,
  look: () => Value | Promise<Value>,
  isRight: (value: Value) => boolean,
): Promise<Value> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const value = await look();
    if (isRight(value) || Date.now() > deadline) return value;
    clock.advance(250);
    await delay(10);
  }
}
