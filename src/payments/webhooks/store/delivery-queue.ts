import { placeholders } from '#db/insert.ts';
import { dueRows } from '#db/lease.ts';
import type { Db, Transaction } from '#db/open.ts';
import { execute, rowsOf } from '#db/query.ts';
import { lockedTransaction } from '#db/transaction.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import type { Seals } from '../../secrets/sealed.ts';
import { openEach, putOff } from '../../secrets/unopened-rows.ts';
import type { AttemptResult, ClaimedDelivery, Delivery, Receiver } from '../model/webhook.ts';
import { writeOutcomes } from './attempt-outcomes.ts';
import { endAttempts, markTriggered } from './attempts.ts';
import { bodyCell, type DeliveryRow, deliveryAt, deliveryOf } from './delivery-rows.ts';
import { rowLock } from './row-lock.ts';
import { receiverOf, type WebhookRow } from './webhook-rows.ts';

/** How long an automatic attempt is nobody else's, in milliseconds: three times what sending may take. */
export const LEASE_MS = 90_000;

/** What is written for a manual attempt that nobody brought to its end. */
const CUT_OFF = 'The attempt was cut off by the end of our process.';

/** An active webhook that something is to be sent to now. */
export interface WebhookWithDue {
  readonly webhookId: string;
  readonly organizationId: string;
  /** Since when the oldest of it is due, UTC milliseconds. */
  readonly dueSince: number;
}

/** Deliveries of one webhook with an automatic attempt begun. */
export interface LeasedDelivery {
  readonly receiver: Receiver;
  /** In no order that matters. */
  readonly deliveries: readonly ClaimedDelivery[];
}

/** What is to be delivered, taken by one process at a time. What a process died over falls due when its lease ends. */
export interface DeliveryQueue {
  /** In no order that matters. */
  webhooksWithDue(): Promise<WebhookWithDue[]>;
  /**
   * Begins up to so many attempts a webhook, all in one transaction. Webhooks with none are left out. What does not open
   * waits as long as a lease, without an attempt.
   */
  takeDue(wanted: readonly { webhookId: string; limit: number }[]): Promise<LeasedDelivery[]>;
  /** `endAttempts` for many, in one transaction. */
  settleAll(results: readonly AttemptResult[]): Promise<Delivery[]>;
  /** Ends up to `limit` manual attempts, tests included, that their process died over; answers with how many. */
  endCutOff(limit: number): Promise<number>;
}

export interface DeliveryQueueDeps {
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  readonly log: Logger;
}

export function deliveryQueue({ db, seals, clock, log }: DeliveryQueueDeps): DeliveryQueue {
  const deliveries = dueRows<DeliveryRow>('deliveries', clock);

  const takeOf = async (
    handle: Transaction,
    webhookId: string,
    limit: number,
  ): Promise<ClaimedDelivery[]> => {
    const until = clock.now() + LEASE_MS;
    const { rows } = await deliveries.take(handle, {
      limit,
      leaseMs: LEASE_MS,
      where: { sql: 'webhook_id = ?', bindings: [webhookId] },
      // What `attemptBegun` says. Due again only when the lease has ended, so nobody looks at what is being sent.
      set: {
        sql: "attempts = attempts + 1, sending = 'automatic', next_attempt_at = ?",
        bindings: [until],
      },
    });
    const { opened, unopened } = openEach(rows, row => claimed(row, seals), log);
    const undo = 'attempts = attempts - 1, sending = null';
    await putOff(handle, { table: 'deliveries', ids: unopened, until, undo });
    return opened;
  };

  return {
    async webhooksWithDue() {
      const now = clock.now();
      return (await pendingRows(db, now)).map(({ id, organization_id, due_since }) => ({
        webhookId: id,
        organizationId: organization_id,
        dueSince: due_since,
      }));
    },

    takeDue(wanted) {
      return lockedTransaction(db, async handle => {
        const limits = new Map(wanted.map(({ webhookId, limit }) => [webhookId, limit]));
        const claims: LeasedDelivery[] = [];
        const webhooks = await lockedActive(handle, [...limits.keys()]);
        const { opened: receivers, unopened } = openEach(webhooks, row => receiverOf(row, seals), log);
        for (const webhookId of unopened) await putOffAll(handle, webhookId, clock.now());
        for (const receiver of receivers) {
          const { webhookId } = receiver;
          const taken = await takeOf(handle, webhookId, limits.get(webhookId) ?? 0);
          if (taken.length > 0) claims.push({ receiver, deliveries: taken });
        }
        await markTriggered(
          handle,
          claims.map(({ receiver }) => receiver.webhookId),
          clock.now(),
        );
        return claims;
      });
    },

    settleAll: results => lockedTransaction(db, handle => endAttempts(handle, seals, results, clock.now())),

    endCutOff(limit) {
      return lockedTransaction(db, async handle => {
        const now = clock.now();
        const rows = await rowsOf<DeliveryRow>(
          handle,
          `select * from deliveries where sending = 'manual' and locked_until <= ?
           order by locked_until limit ?${handle.dialect.skipLocked}`,
          [now, limit],
        );
        const ended = rows.map(row => ({
          delivery: { ...deliveryAt(row, now), lastError: CUT_OFF, endedAt: now },
          token: row.locked_by ?? '',
        }));
        await writeOutcomes(handle, ended);
        return ended.length;
      });
    },
  };
}

interface PendingRow {
  id: string;
  organization_id: string;
  due_since: number;
}

/** Leaps from webhook to webhook in the index of what is to come: what is done, and how much is due, costs nothing. */
function pendingRows(db: Db, now: number): Promise<PendingRow[]> {
  const next = (after: string) =>
    `(select webhook_id from deliveries where next_attempt_at is not null${after} order by webhook_id limit 1)`;
  return rowsOf<PendingRow>(
    db,
    `with recursive pending (webhook_id) as (
       select ${next('')}
       union all
       select ${next(' and webhook_id > pending.webhook_id')} from pending where pending.webhook_id is not null
     )
     select * from (
       select w.id, w.organization_id, (
         select min(d.next_attempt_at) from deliveries d where d.webhook_id = w.id and d.next_attempt_at <= ?
       ) as due_since
       from pending join webhooks w on w.id = pending.webhook_id where w.is_active
     ) as due where due_since is not null`,
    [now],
  );
}

function lockedActive(handle: Transaction, ids: readonly string[]): Promise<WebhookRow[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return rowsOf<WebhookRow>(
    handle,
    `select * from webhooks where is_active and id in (${placeholders(ids.length)})
     order by id${rowLock(handle, 'for no key update')}`,
    ids,
  );
}

/** Has everything wait that is due for a webhook whose secret does not open, and would be again at once. */
async function putOffAll(handle: Transaction, webhookId: string, now: number): Promise<void> {
  await execute(
    handle,
    `update deliveries set next_attempt_at = ?, sending = null, locked_until = null, locked_by = null
     where webhook_id = ? and next_attempt_at <= ? and (locked_until is null or locked_until <= ?)`,
    [now + LEASE_MS, webhookId, now, now],
  );
}

function claimed(row: DeliveryRow, seals: Seals): ClaimedDelivery {
  const body = seals.open(row.sealed_body, bodyCell(row.id));
  return { ...deliveryOf(row), body, token: row.locked_by ?? '' };
}
