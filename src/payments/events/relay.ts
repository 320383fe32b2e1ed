import { dueRows, RELEASE_LEASE } from '../../db/lease.ts';
import type { Db, Transaction } from '../../db/open.ts';
import { execute } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import { lockedTransaction } from '../../db/transaction.ts';
import { newId } from '../../lib/ids.ts';
import type { ClockAndLog } from '../../lib/logger.ts';
import type { Worker } from '../../lib/worker.ts';
import type { EventData, EventType, PaymentEvent } from '../model/event.ts';
import {
  type Channel,
  channelsFor,
  customerAddress,
  type Notice,
  type NotificationSettings,
} from '../model/notification.ts';
import { newDeliveryOf } from '../model/webhook.ts';
import { collectAttention } from '../notifications/store/attention-notices.ts';
import { noticeStore } from '../notifications/store/notice-store.ts';
import { notificationStore } from '../notifications/store/notification-store.ts';
import type { Seals } from '../secrets/sealed.ts';
import { openEach, postponeRows } from '../secrets/unopened-rows.ts';
import type { EventRow } from '../tables/event-tables.ts';
import { deliveryStore, type NewDelivery } from '../webhooks/store/delivery-store.ts';
import { subscriptions } from '../webhooks/store/subscriptions.ts';
import { webhookPayload } from './event-data.ts';
import { eventOf } from './event-store.ts';

/** Most events that one transaction relays, so that other writers do not wait long. */
const BATCH = 200;
/** Pause of an event that cannot be decrypted, in milliseconds. */
const UNOPENED_PAUSE_MS = 60_000;

export interface RelayDeps extends ClockAndLog {
  readonly db: Db;
  readonly seals: Seals;
  /** Called for every relayed event. */
  readonly onRelayed?: ((type: EventType) => void) | undefined;
}

/**
 * Creates a delivery for each subscribed webhook and a notice for each enabled channel from every event. Taking the
 * event, writing and marking it are one transaction, so any number of processes relay each event once.
 */
export function relay({ db, seals, clock, log, onRelayed }: RelayDeps): Worker {
  const due = dueRows<EventRow>('events', clock);
  return {
    name: 'relay',
    async runOnce() {
      if (!(await due.isAny(db))) return 0;
      const { taken, relayed } = await lockedTransaction(db, async handle => {
        const rows = await due.lock(handle, BATCH);
        const { opened: events, unopened } = openEach(rows, row => eventOf(row, seals), log);
        await postponeRows(handle, {
          table: 'events',
          ids: unopened,
          until: clock.now() + UNOPENED_PAUSE_MS,
        });
        await deliveryStore(handle, seals).insert(await deliveriesOf(handle, events, clock.now()));
        const settings = await notificationStore(handle).saved(events);
        await noticeStore(handle, seals).insert(noticesOf(settings, events, clock.now()));
        await collectAttention({ handle, seals, now: clock.now() }, events, settings);
        await markRelayed(handle, events);
        return { taken: rows.length, relayed: events };
      });
      for (const { type } of relayed) onRelayed?.(type);
      return taken;
    },
  };
}

async function deliveriesOf(
  handle: Transaction,
  events: readonly PaymentEvent[],
  now: number,
): Promise<NewDelivery[]> {
  const webhooks = await subscriptions(handle).ofEvents(events);
  return events.flatMap(event =>
    (webhooks.get(event.id) ?? []).map(webhookId => ({
      delivery: newDeliveryOf(event, webhookId, { isTest: false, now }),
      body: webhookPayload(event, webhookId),
    })),
  );
}

function noticesOf(
  saved: readonly NotificationSettings[],
  events: readonly PaymentEvent[],
  now: number,
): Notice[] {
  return events.flatMap(event => {
    const { organizationId, mode, type } = event;
    const settings = saved.find(one => one.organizationId === organizationId && one.mode === mode);
    if (settings === undefined) return [];
    const notice = (channel: Channel, kind: 'payment' | 'customer'): Notice => ({
      id: newId('ntc'),
      organizationId,
      mode,
      channel,
      payload: { kind, event },
      attempts: 0,
      createdAt: now,
    });
    const toMerchant = channelsFor(settings, type).map(channel => notice(channel, 'payment'));
    const address = customerAddress(settings, event);
    const isNews = !events.some(
      other => isCoveredBy(event, other) && customerAddress(settings, other) === address,
    );
    const isMailed = address !== null && isNews;
    return isMailed ? [...toMerchant, notice('email', 'customer')] : toMerchant;
  });
}

/**
 * True when a mail about another checkout of the link, which was completed or ended with this one, makes a mail about its
 * end needless (Decision 361).
 */
function isCoveredBy(event: PaymentEvent, other: PaymentEvent): boolean {
  if (event.type !== 'checkout.expired' || linkOf(other.data) !== linkOf(event.data)) return false;
  return other.type === 'checkout.completed' || (other.type === event.type && other.id < event.id);
}

function linkOf(data: EventData): string | null {
  return 'payment_link_id' in data ? data.payment_link_id : null;
}

async function markRelayed(handle: Transaction, events: readonly PaymentEvent[]): Promise<void> {
  if (events.length === 0) return;
  await execute(
    handle,
    `update events set next_attempt_at = null, ${RELEASE_LEASE}
     where id in (${placeholders(events.length)})`,
    events.map(event => event.id),
  );
}
