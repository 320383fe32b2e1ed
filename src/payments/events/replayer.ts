import { dueRows } from '../../db/lease.ts';
import type { Db, Transaction } from '../../db/open.ts';
import { lockedTransaction } from '../../db/transaction.ts';
import type { ClockAndLog } from '../../lib/logger.ts';
import type { Worker } from '../../lib/worker.ts';
import { newDeliveryOf } from '../model/webhook.ts';
import type { Seals } from '../secrets/sealed.ts';
import { openEach } from '../secrets/unopened-rows.ts';
import type { ReplayRow } from '../tables/event-tables.ts';
import { select } from '../tables/select.ts';
import { lockedWebhook } from '../webhooks/store/attempt-rows.ts';
import { deliveryStore, retryFailed } from '../webhooks/store/delivery-store.ts';
import { webhookOf } from '../webhooks/store/webhook-store.ts';
import { webhookPayload } from './event-data.ts';
import { copiedEventRows, eventOf } from './event-store.ts';
import { type MissedEvent, missedEvents } from './missed-events.ts';
import { end, replayOf, saveProgress } from './replay-store.ts';

/**
 * Number of due deliveries of a webhook at which its replay pauses, so that new events do not wait for the whole
 * replay.
 */
const MAX_WAITING = 200;
/** Most events that one transaction reads, so that other writers do not wait long. */
const LOOKED_AT_ONCE = 50;
/** Pause of a replay while its deliveries wait, in milliseconds. */
const REST_MS = 1_000;
/** The duration does not matter, because each transaction ends or releases the replay it took. */
const LEASE_MS = 60_000;

interface ReplayerDeps extends ClockAndLog {
  readonly db: Db;
  readonly seals: Seals;
}

/**
 * Runs replays, which send the events that a webhook missed (Decision 224). Each transaction creates deliveries for a
 * part of one replay and stores its progress. A replay ends after its last event, or when its webhook is no longer
 * active.
 */
export function replayer(deps: ReplayerDeps): Worker {
  const { db, clock } = deps;
  const due = dueRows<ReplayRow>('webhook_replays', clock);
  return {
    name: 'replayer',
    async runOnce() {
      if (!(await due.isAny(db))) return 0;
      return lockedTransaction(db, async handle => {
        const { rows } = await due.take(handle, { limit: 1, leaseMs: LEASE_MS });
        const [replay] = rows;
        return replay === undefined ? 0 : runPart(handle, replay, deps);
      });
    },
  };
}

/** Runs the next part of a replay; returns 0 when it has to wait. */
async function runPart(handle: Transaction, row: ReplayRow, deps: ReplayerDeps): Promise<number> {
  const now = deps.clock.now();
  const replay = replayOf(row);
  const webhookRow = await lockedWebhook(handle, replay, replay.webhookId);
  const webhook = webhookRow && webhookOf(webhookRow);
  if (webhook?.isActive !== true) {
    await end(handle, row.id);
    return 1;
  }
  const room = MAX_WAITING - (await waitingOf(handle, webhook.id, now));
  if (room <= 0) {
    await saveProgress(handle, row.id, { ...replay, at: now + REST_MS });
    return 0;
  }
  const { missed, last } = await missedEvents(handle, { webhook, ...replay }, Math.min(room, LOOKED_AT_ONCE));
  const sent = missed.slice(0, replay.remaining);
  await sendAgain(handle, { webhookId: webhook.id, missed: sent }, deps);
  const remaining = replay.remaining - sent.length;
  if (last === undefined || remaining === 0) await end(handle, row.id);
  else await saveProgress(handle, row.id, { after: last, remaining, at: now });
  return 1;
}

/** Restarts deliveries that failed permanently, and creates missing ones. */
async function sendAgain(
  handle: Transaction,
  { webhookId, missed }: { webhookId: string; missed: readonly MissedEvent[] },
  { seals, clock, log }: ReplayerDeps,
): Promise<void> {
  const now = clock.now();
  const failed = missed.flatMap(({ deliveryId }) => (deliveryId === null ? [] : [deliveryId]));
  await retryFailed(handle, failed, now);
  const unsent = missed.flatMap(({ id, deliveryId }) => (deliveryId === null ? [id] : []));
  const { opened } = openEach(await copiedEventRows(handle, unsent), row => eventOf(row, seals), log);
  const deliveries = opened.map(event => ({
    delivery: newDeliveryOf(event, webhookId, { isTest: false, now }),
    body: webhookPayload(event, webhookId),
  }));
  await deliveryStore(handle, seals).insert(deliveries);
}

/** Number of due deliveries of a webhook, at most `MAX_WAITING`. */
async function waitingOf(handle: Transaction, webhookId: string, now: number): Promise<number> {
  const [row] = await select({ computed: { total: ['count', 'count(*)'] } }).rows(
    handle,
    `from (
       select 1 from deliveries where webhook_id = ? and next_attempt_at <= ? limit ${MAX_WAITING}
     ) as waiting`,
    [webhookId, now],
  );
  return row?.total ?? 0;
}
