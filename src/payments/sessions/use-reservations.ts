import type { Handle, Transaction } from '../../db/open.ts';
import { execute } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import { timestamp } from '../../lib/clock.ts';
import { type FieldError, notNow } from '../model/fault.ts';
import type { PaymentLink } from '../model/payment-link.ts';
import { type CheckoutSession, heldSince, holdsUse, LIFE_ALLOWANCE } from '../model/session.ts';
import { HOLDS_USE, linkStore } from '../store/link-store.ts';
import { select } from '../tables/select.ts';

/** Time for which a use is reserved, in milliseconds (Decision 359). */
const RESERVED_MS = 600_000;

/** Links without a use that is free, by id, with the earliest time at which one may be: UTC milliseconds, or null. */
export type FullLinks = ReadonlyMap<string, number | null>;

/** End of a reservation that begins now, and of the session if that is earlier. UTC milliseconds. */
export function reservationEnd(
  { reserveUses, maxUses }: Pick<PaymentLink, 'reserveUses' | 'maxUses'>,
  { now, expiresAt }: { readonly now: number; readonly expiresAt: number },
): number | null {
  return reserveUses && maxUses !== null ? Math.min(now + RESERVED_MS, expiresAt) : null;
}

/** Refusal of a new session while all uses of its link that are left are reserved or being paid. */
export async function reservedFault(
  handle: Handle,
  { id, reserveUses }: Pick<PaymentLink, 'id' | 'reserveUses'>,
  now: number,
): Promise<FieldError | undefined> {
  const next = reserveUses ? (await fullLinks(handle, [id], { now })).get(id) : undefined;
  if (next === undefined) return undefined;
  const until = next === null ? 'now' : `before ${timestamp(next)}`;
  return notNow(
    `All uses of the payment link that are left are reserved or being paid, so no checkout can start ${until}.`,
  );
}

/**
 * Reserves a use of the link for an active session that its wallet has just signed for, if one is free. A reservation of
 * the same wallet for another session of the link moves here, unless a payment of it was seen. A session reserves once.
 */
export async function reserveUse(handle: Transaction, session: CheckoutSession, now: number): Promise<void> {
  const { id, paymentLinkId, signedAddress, useReservedUntil, expiresAt } = session;
  if (session.status !== 'active' || paymentLinkId === null) return;
  if (useReservedUntil !== null && !holdsUse(session, now)) return;
  const link = await linkStore(handle).find(session, paymentLinkId);
  const end = link === undefined ? null : reservationEnd(link, { now, expiresAt });
  if (end === null) return;

  const ofWallet = `payment_link_id = ? and signed_address = ? and id <> ? and ${HOLDS_USE}`;
  const bindings = [paymentLinkId, signedAddress, id, heldSince(now)];
  const others = await select({
    from: 'checkout_sessions',
    columns: ['use_reserved_until', 'payment_status'],
  }).rows(handle, `where ${ofWallet}`, bindings);
  const movable = others.filter(other => other.payment_status !== 'confirming');
  if (movable.length > 0) {
    const release = `update checkout_sessions set use_reserved_until = null, updated_at = ?
                     where ${ofWallet} and payment_status <> 'confirming'`;
    await execute(handle, release, [now, ...bindings]);
  }
  if (useReservedUntil !== null || movable.length < others.length) return;
  const [moved] = movable;
  if (moved === undefined && (await fullLinks(handle, [paymentLinkId], { now, except: id })).size > 0) return;
  const until = Math.min(moved?.use_reserved_until ?? end, expiresAt);
  const reserve = 'update checkout_sessions set use_reserved_until = ?, updated_at = ? where id = ?';
  await execute(handle, reserve, [until, now, id]);
}

/** Ends all reservations of a link. Its owner has switched them off. */
export async function releaseUses(handle: Transaction, linkId: string, now: number): Promise<void> {
  const release = `update checkout_sessions set use_reserved_until = null, updated_at = ?
                   where payment_link_id = ? and status = 'active' and use_reserved_until is not null`;
  await execute(handle, release, [now, linkId]);
}

const HELD = `select count(*) from checkout_sessions s
  where s.payment_link_id = l.id and s.id <> ? and ${HOLDS_USE}`;
/** Sessions without a reservation whose payment is being confirmed, by the index of open sessions. */
const PAYING = `select count(*) from checkout_sessions s
  where s.status = 'active' and s.payment_status = 'confirming' and s.chain_id = l.chain_id
    and s.token_address = l.token_address and s.recipient_address = l.recipient_address
    and s.payment_link_id = l.id and s.id <> ? and s.use_reserved_until is null`;

/** The links among some that reserve uses and have none that is free for a session which is not `except`. */
export async function fullLinks(
  handle: Handle,
  linkIds: readonly string[],
  { now, except = '' }: { readonly now: number; readonly except?: string },
): Promise<FullLinks> {
  if (linkIds.length === 0) return new Map();
  const full = await select({ from: 'payment_links l', columns: ['id'] }).rows(
    handle,
    `where l.id in (${placeholders(linkIds.length)}) and l.reserve_uses and l.current_uses < l.max_uses
       and l.current_uses + (${HELD}) + (${PAYING}) >= l.max_uses`,
    [...linkIds, except, heldSince(now), except],
  );
  if (full.length === 0) return new Map();
  const ids = full.map(({ id }) => id);
  const ends = await select({
    from: 'checkout_sessions',
    columns: ['payment_link_id'],
    computed: { earliest: ['time', 'min(use_reserved_until)'] },
  }).rows(
    handle,
    `where payment_link_id in (${placeholders(ids.length)}) and ${HOLDS_USE} and payment_status <> 'confirming'
     group by payment_link_id`,
    [...ids, heldSince(now)],
  );
  const earliest = new Map(ends.map(row => [row.payment_link_id, row.earliest + LIFE_ALLOWANCE.afterMs]));
  return new Map(ids.map(id => [id, earliest.get(id) ?? null]));
}
