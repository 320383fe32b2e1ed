import { leadership } from '../db/leader.ts';
import type { Db, Handle } from '../db/open.ts';
import { execute, type Sql } from '../db/query.ts';
import { placeholders } from '../db/rows.ts';
import { transaction } from '../db/transaction.ts';
import { type Clock, DAY_MS } from '../lib/clock.ts';
import type { Worker } from '../lib/worker.ts';
import { customerErasures } from './api/customers/customer-erasure.ts';
import { erasePayers } from './api/customers/removed-payers.ts';
import { IDEMPOTENCY_LIFETIME_MS, idempotencyStore } from './api/gate/idempotency-store.ts';
import { AUDIT_LIFETIME_MS, auditStore } from './audit/audit-store.ts';
import { removeUnusedCustomers } from './customers/unused-customers.ts';
import { signInStore } from './dashboard/sign-in/sign-in-store.ts';
import { EVENT_LIFETIME_MS } from './events/event-store.ts';
import { imageStore } from './images/image-store.ts';
import { passkeyStore } from './members/passkey-store.ts';
import { signInAddressStore } from './members/sign-in-address.ts';
import { LONGEST_SESSION_MS } from './model/session.ts';
import { messengerLinks } from './notifications/store/messenger-links.ts';
import { noticeStore } from './notifications/store/notice-store.ts';
import { refundAddressStore } from './refunds/refund-address-store.ts';
import type { Seals } from './secrets/sealed.ts';
import { identifyCustomers } from './sessions/unidentified-sessions.ts';
import { noteRemovedSessions } from './stats/tallies.ts';
import { setAsideStore } from './store/set-aside-store.ts';
import { WATCH_NOTE_MS, watchedStore } from './store/watched-store.ts';
import { select } from './tables/select.ts';
import { DELIVERY_LIFETIME_MS, deliveryStore } from './webhooks/store/delivery-store.ts';
import { webhookStore } from './webhooks/store/webhook-store.ts';

/** Default retention of unpaid sessions after their end, in milliseconds (Decision 152). */
const UNPAID_SESSION_LIFETIME_MS = 30 * DAY_MS;
/** Retention of notices, in milliseconds. Notices and deliveries are kept equally long. */
const NOTICE_LIFETIME_MS = DELIVERY_LIFETIME_MS;
/** Most rows that one statement removes, so that other writers do not wait long. */
const BATCH = 500;
const LEASE_MS = 60_000;

interface RetentionOptions {
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  /** Retention of unpaid sessions after their end, in milliseconds; 30 days when absent. */
  readonly unpaidSessionsMs?: number | undefined;
}

/**
 * Removes old rows, in one process at a time. A pass removes one batch of every kind. Passes follow each other until
 * one removes nothing. Decisions 106, 113, 123, 127, 152, 245, 324, 363, 429 and 447 set the lifetimes.
 */
export function retentionWorker(options: RetentionOptions): Worker {
  const { db, clock } = options;
  const leader = leadership(db, { name: 'retention', leaseMs: LEASE_MS, clock });
  return {
    name: 'retention',
    async runOnce(signal) {
      if (!(await leader.hold())) return 0;
      let removed = 0;
      try {
        for (const remove of removals(options)) {
          if (signal.aborted) return removed;
          removed += await remove(signal);
        }
      } finally {
        await leader.resign();
      }
      return removed;
    },
  };
}

/** Functions that each remove or mend a batch of one kind and return the number of its rows. */
function removals({
  db,
  seals,
  clock,
  unpaidSessionsMs = UNPAID_SESSION_LIFETIME_MS,
}: RetentionOptions): readonly ((signal: AbortSignal) => Promise<number>)[] {
  const now = clock.now();
  const old = (lifetimeMs: number) => ({ before: now - lifetimeMs, limit: BATCH });
  return [
    () => idempotencyStore(db, seals).purge(now - IDEMPOTENCY_LIFETIME_MS),
    () => deliveryStore(db, seals).removeOld(old(DELIVERY_LIFETIME_MS)),
    () => webhookStore(db, seals).removeDeleted(BATCH),
    () => noticeStore(db, seals).removeOld(old(NOTICE_LIFETIME_MS)),
    () => messengerLinks(db).removeExpired(now),
    () => signInStore(db).removeExpired({ before: now, limit: BATCH }),
    () => signInAddressStore(db).removeExpired(now),
    () => passkeyStore(db).removeExpired(now),
    () => refundAddressStore(db).removeLinks(old(0)),
    () => imageStore(db).removeUnnamed({ now, limit: BATCH }),
    () => auditStore(db).removeOld(old(AUDIT_LIFETIME_MS)),
    () => removeOldEvents(db, old(EVENT_LIFETIME_MS)),
    signal => removeUnpaidSessions({ db, seals, signal }, old(unpaidSessionsMs)),
    () => identifyCustomers(db, seals, { limit: BATCH }),
    signal => customerErasures({ db, seals, clock }).finishStalled(signal),
    () => setAsideStore(db).removeUnused(),
    () => watchedStore(db).removeUnused(old(unpaidSessionsMs + LONGEST_SESSION_MS + WATCH_NOTE_MS)),
  ];
}

/** Selection of old records: from before a time (UTC milliseconds), at most `limit`, oldest first. */
interface OldRecords {
  readonly before: number;
  readonly limit: number;
}

/** Removes old events of all organizations and modes. Returns their number. */
function removeOldEvents(handle: Handle, { before, limit }: OldRecords): Promise<number> {
  return execute(
    handle,
    'delete from events where id in (select id from events where created_at < ? order by created_at limit ?)',
    [before, limit],
  );
}

/**
 * Removes sessions that ended unpaid before a time, with their customer data and failed transactions, and erases what their
 * payers wrote from records that stay longer (Decision 460). Sessions with any other transaction stay. Returns the number of
 * sessions.
 */
async function removeUnpaidSessions(
  { db, seals, signal }: { readonly db: Db; readonly seals: Seals; readonly signal: AbortSignal },
  old: OldRecords,
): Promise<number> {
  const unpaid = await unpaidSessions(db, old);
  if (unpaid.length === 0) return 0;
  const known = unpaid.filter(row => row.sealed_customer !== null);
  if (!(await erasePayers(db, seals, known, signal))) return 0;
  return transaction(db, async handle => {
    // A payment may have been recorded since then.
    const sql = `id in (${placeholders(unpaid.length)})`;
    const rows = await unpaidSessions(handle, old, { sql, bindings: unpaid.map(({ id }) => id) });
    if (rows.length === 0) return 0;
    const ids = rows.map(({ id }) => id);
    const among = `in (${placeholders(ids.length)})`;
    await noteRemovedSessions(handle, ids);
    await execute(
      handle,
      `update unmatched_transfers set suggested_session_id = null
       where confirmed_at is not null and assigned_at is null and suggested_session_id ${among}`,
      ids,
    );
    await execute(handle, `delete from transfer_candidates where session_id ${among}`, ids);
    await execute(handle, `delete from transactions where session_id ${among}`, ids);
    const removed = await execute(handle, `delete from checkout_sessions where id ${among}`, ids);
    await removeUnusedCustomers(
      handle,
      rows.map(row => row.customer_id),
    );
    return removed;
  });
}

/** Sessions that ended unpaid before a time, those that ended first. */
function unpaidSessions(handle: Handle, { before, limit }: OldRecords, where: Sql = ANY) {
  return select({
    from: 'checkout_sessions s',
    columns: ['id', 'organization_id', 'mode', 'customer_id', 'deposit_address', 'sealed_customer'],
  }).rows(
    handle,
    // The amount is literal, so that the partial index of unpaid sessions is used.
    `where status = 'expired' and amount_received = '010' and ended_at < ? and not exists (
       select 1 from transactions t where t.session_id = s.id and t.status <> 'failed'
     ) and ${where.sql} order by ended_at limit ?`,
    [before, ...where.bindings, limit],
  );
}

const ANY: Sql = { sql: '1 = 1', bindings: [] };
