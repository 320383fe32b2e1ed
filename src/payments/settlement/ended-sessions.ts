import type { Binding } from '../../db/columns.ts';
import type { Handle, Transaction } from '../../db/open.ts';
import { execute } from '../../db/query.ts';
import { announce } from '../../db/woken-worker.ts';
import { newId } from '../../lib/ids.ts';
import { checkoutExpiredData, mispaidCheckoutData } from '../events/event-data.ts';
import { eventStore, type NewEvent } from '../events/event-store.ts';
import { watcherName } from '../model/payment-chain.ts';
import { isSoldOut } from '../model/payment-link.ts';
import type { CheckoutSession, EndedReason } from '../model/session.ts';
import type { Seals } from '../secrets/sealed.ts';
import { sessionOf } from '../sessions/session-rows.ts';
import { linkStore } from '../store/link-store.ts';
import { select } from '../tables/select.ts';
import type { Move } from './session-totals.ts';

/** The database transaction in which sessions end, and its time in UTC milliseconds. */
interface EndingDeps {
  readonly handle: Transaction;
  readonly seals: Seals;
  readonly now: number;
}

/** Ends the active sessions that match a condition, except those whose payment is being confirmed. */
export async function endSessions(
  { handle, seals, now }: EndingDeps,
  reason: EndedReason,
  { condition, bindings }: { readonly condition: string; readonly bindings: readonly Binding[] },
): Promise<CheckoutSession[]> {
  const rows = await select({ from: 'checkout_sessions', columns: ['*'] }).changed(
    handle,
    `update checkout_sessions set status = 'expired', ended_reason = ?, ended_at = ?, updated_at = ?,
       use_reserved_until = null
     where status = 'active' and payment_status <> 'confirming' and ${condition}`,
    [reason, now, now, ...bindings],
  );
  const sessions = rows.map(row => sessionOf(row, seals));
  await eventStore(handle, seals).insert(sessions.flatMap(session => endingEvents(session, now)));
  return sessions;
}

/** The events of a session that ended without being completed. One that was paid in part needs a decision. */
export function endingEvents(session: CheckoutSession, now: number): NewEvent[] {
  const { id, organizationId, mode } = session;
  const event = { organizationId, mode, createdAt: now };
  const expired: NewEvent = {
    event: { ...event, id: newId('evt'), type: 'checkout.expired', data: checkoutExpiredData(session) },
    fact: `${id}:expired`,
    order: 0,
  };
  if (session.paymentStatus !== 'underpaid') return [expired];
  const data = mispaidCheckoutData(session, undefined);
  return [
    expired,
    {
      event: { ...event, id: newId('evt'), type: 'checkout.partially_paid', data },
      fact: `${id}:partially_paid`,
      order: 1,
    },
  ];
}

/** Does with the sessions of a link what a move of one of them means for the others (Decision 355). */
export async function followUse(deps: EndingDeps, { session, transaction, use }: Move): Promise<void> {
  const { paymentLinkId: linkId, status } = session;
  if (linkId === null) return;
  if (use === 'returned') {
    await linkStore(deps.handle).returnUse(linkId, deps.now);
    await reopenSessions(deps, linkId);
  }
  if (use === 'taken') await linkStore(deps.handle).takeUse(linkId, deps.now);
  // A session that a failed payment kept open ends like the others.
  const isUnpaid = status === 'active' && transaction.status === 'failed';
  if (isUnpaid || use === 'counted' || use === 'taken') await endSoldOut(deps, linkId);
}

/** Most sessions that one transaction ends because their link has sold out, so that other writers do not wait long. */
const ENDED_AT_ONCE = 100;

/** Payments that keep a session of a sold-out link open. They may have been sent before. */
const HAS_PAYMENT = `exists (select 1 from transactions t
  where t.session_id = checkout_sessions.id and t.status in ('pending', 'confirming', 'completed'))`;

const USES = select({ from: 'payment_links', columns: ['max_uses', 'current_uses', 'ends_sessions'] });

/**
 * Ends sessions of a link without uses, and returns their number. If there are more than one transaction ends, the link
 * is marked, and `soldOutLinks` lists it.
 */
export async function endSoldOut(deps: EndingDeps, linkId: string): Promise<number> {
  const { handle } = deps;
  const condition = `id in (
    select id from checkout_sessions
    where payment_link_id = ? and status = 'active' and not ${HAS_PAYMENT} order by created_at limit ${ENDED_AT_ONCE}
  )`;
  const [link] = await USES.rows(handle, 'where id = ?', [linkId]);
  if (link === undefined) return 0;
  const { max_uses: maxUses, current_uses: currentUses, ends_sessions: isMarked } = link;
  const isOut = isSoldOut({ maxUses, currentUses });
  const ended = isOut ? await endSessions(deps, 'sold_out', { condition, bindings: [linkId] }) : [];
  const isMore = ended.length === ENDED_AT_ONCE;
  const mark = `update payment_links set ends_sessions = ${isMore ? 'true' : 'false'} where id = ?`;
  if (isMore !== Boolean(isMarked)) await execute(handle, mark, [linkId]);
  if (isMore) announce(handle, 'sessions');
  return ended.length;
}

/** Most sessions that one transaction opens again. */
const REOPENED_AT_ONCE = 500;

/** A newer session that asked for the exact amount of a session, by its status: each has an index of its own. */
const NEWER_OF_AMOUNT = (['active', 'completed', 'expired'] as const).map(
  status => `not exists (select 1 from checkout_sessions newer
    where newer.status = '${status}' and not newer.is_wallet_only and newer.chain_id = checkout_sessions.chain_id
      and newer.token_address = checkout_sessions.token_address
      and newer.recipient_address = checkout_sessions.recipient_address
      and newer.amount_due = checkout_sessions.amount_due and newer.created_at > checkout_sessions.created_at)`,
);

/** Opens the sessions again that ended because their link had no uses. Those with a payment are the merchant's to decide. */
export async function reopenSessions({ handle, now }: EndingDeps, linkId: string): Promise<void> {
  const rows = await select({ from: 'checkout_sessions', columns: ['chain_id'] }).changed(
    handle,
    `update checkout_sessions set status = 'active', ended_reason = null, ended_at = null, updated_at = ?
     where id in (
       select id from checkout_sessions
       where payment_link_id = ? and ended_reason = 'sold_out' and expires_at > ? and not ${HAS_PAYMENT}
         and (is_wallet_only or (${NEWER_OF_AMOUNT.join(' and ')}))
       order by created_at desc limit ${REOPENED_AT_ONCE}
     )`,
    [now, linkId, now],
  );
  for (const chainId of new Set(rows.map(row => row.chain_id))) announce(handle, watcherName(chainId));
}

/** Ids of links that have sold out while more sessions were open than one transaction ends. */
export async function soldOutLinks(handle: Handle): Promise<string[]> {
  const rows = await select({ from: 'payment_links', columns: ['id'] }).rows(
    handle,
    'where ends_sessions order by id',
  );
  return rows.map(({ id }) => id);
}
