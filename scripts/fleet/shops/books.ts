import { setTimeout as delay } from 'node:timers/promises';
import type { PaymentsSchemas } from '../../../src/contract/contracts/payments.ts';
import { demand } from './demand.ts';
import { HEALTHY } from './receiver-kinds.ts';
import type { Arrival } from './receivers.ts';
import type { Hook, Shop } from './shops.ts';

type Event = PaymentsSchemas['EventRecord'];
export type Webhook = PaymentsSchemas['Webhook'];

const LIMIT = 100;
const LOOK_EVERY_MS = 250;

/** Reads all events of a shop from the API. */
export async function eventsOf({ client }: Shop): Promise<Event[]> {
  const events: Event[] = [];
  for (let page = 1; ; page += 1) {
    const path = `/api/v1/events?limit=${LIMIT}&page=${page}`;
    const { data, has_more } = await demand<PaymentsSchemas['EventList']>(client, { path });
    events.push(...data);
    if (!has_more) return events;
  }
}

/** Reads the webhooks of a shop from the API, by id. */
export async function webhooksOf({ client }: Shop): Promise<Map<string, Webhook>> {
  const path = `/api/v1/webhooks?limit=${LIMIT}`;
  const { data } = await demand<PaymentsSchemas['WebhookListAnswer']>(client, { path });
  return new Map(data.map(webhook => [webhook.id, webhook]));
}

/** Number of deliveries of a webhook that the API lists under a status. */
export async function deliveriesOf({ client }: Shop, { id }: Hook, status: 'success'): Promise<number> {
  const path = `/api/v1/webhooks/${id}/deliveries?status=${status}&limit=1`;
  return (await demand<PaymentsSchemas['WebhookDeliveryListAnswer']>(client, { path })).total_count;
}

export function isHealthy({ kind }: Hook): boolean {
  return HEALTHY.some(healthy => healthy === kind);
}

/** Arrivals that a receiver accepted, as `<path> <event id>`. */
export function takenAt(arrivals: readonly Arrival[]): Set<string> {
  return new Set(arrivals.filter(({ isTaken }) => isTaken).map(({ path, headers }) => keyOf(path, headers)));
}

/**
 * Waits until every healthy webhook counts a success for each event, or until the time is up. Returns the time it took.
 */
export async function untilSettled(shops: readonly Shop[], withinMs: number): Promise<number> {
  const startedAt = Date.now();
  const wanted = await Promise.all(shops.map(eventsOf));
  while (Date.now() - startedAt < withinMs && !(await isSettled(shops, wanted))) await delay(LOOK_EVERY_MS);
  return Date.now() - startedAt;
}

async function isSettled(shops: readonly Shop[], wanted: readonly Event[][]): Promise<boolean> {
  for (const [index, shop] of shops.entries()) {
    const webhooks = await webhooksOf(shop);
    const events = wanted[index] ?? [];
    for (const hook of shop.hooks.filter(isHealthy)) {
      const due = events.filter(({ event }) => hook.isSubscribed(event)).length;
      if ((webhooks.get(hook.id)?.success_count ?? 0) < due) return false;
    }
  }
  return true;
}

function keyOf(path: string, headers: Arrival['headers']): string {
  return `${path} ${headers['x-service-event-id']}`;
}
