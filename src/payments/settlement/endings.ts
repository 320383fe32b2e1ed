import type { Binding } from '../../db/columns.ts';
import { placeholders } from '../../db/insert.ts';
import { execute, rowsOf } from '../../db/query.ts';
import { newId } from '../../lib/ids.ts';
import { checkoutExpiredData } from '../events/event-data.ts';
import type { NewEvent } from '../events/event-store.ts';
import type { CheckoutSession } from '../model/session.ts';
import { type SessionRow, sessionOf } from '../sessions/session-rows.ts';
import type { SettlementUnit } from './books.ts';
import { overtaken } from './settling.ts';

/** Which sessions are to be ended. Times are UTC milliseconds. */
export interface Due {
  readonly chainId: number;
  /** When the latest scan that reached the head of the chain began; 0 when there was none. */
  readonly scannedAt: number;
  readonly limit: number;
}

/** How long a session waits for its chain to be looked at, before it expires without. */
const PATIENCE_MS = 600_000;

/** How long a payment in confirmation holds its session open on a chain that nobody watches any more. Decision 144. */
const UNWATCHED_MS = 24 * 3_600_000;

/** A block is seen some seconds after its own time: what was mined in time may be missing in a scan until then. */
const BLOCK_DELAY_MS = 15_000;

/** Ends one session by hand, as `Settlement.expire` says. */
export async function expire(books: SettlementUnit, sessionId: string): Promise<CheckoutSession | undefined> {
  return (await end(books, 'id = ?', [sessionId]))[0];
}

/** Ends what nobody paid in time, as `Settlement.expireDue` says. */
export async function expireDue(books: SettlementUnit, { chainId, scannedAt, limit }: Due): Promise<number> {
  const { now } = books;
  const until = Math.min(now, Math.max(scannedAt - BLOCK_DELAY_MS, now - PATIENCE_MS));
  const ended = await end(
    books,
    `id in (
       select id from checkout_sessions
       where status = 'active' and payment_status <> 'confirming' and chain_id = ? and expires_at <= ?
       order by expires_at limit ?
     )`,
    [chainId, until, limit],
  );
  return ended.length;
}

/** Ends and detaches some sessions of a link, as `Settlement.detachSessionsOf` says. */
export async function detachSessionsOf(
  books: SettlementUnit,
  linkId: string,
  limit: number,
): Promise<number> {
  const rows = await rowsOf<{ id: string }>(
    books.handle,
    'select id from checkout_sessions where payment_link_id = ? order by created_at limit ?',
    [linkId, limit],
  );
  if (rows.length === 0) return 0;
  const ids = rows.map(({ id }) => id);
  const condition = `id in (${placeholders(ids.length)})`;
  await end(books, condition, ids);
  return execute(books.handle, `update checkout_sessions set payment_link_id = null where ${condition}`, ids);
}

/** Ends what waits for a chain that nobody watches, as `Settlement.expireUnwatched` says. */
export async function expireUnwatched(
  books: SettlementUnit,
  { chainId, scannedAt, limit }: Due,
): Promise<number> {
  const { handle, now } = books;
  if (scannedAt > now - UNWATCHED_MS) return 0;
  const rows = await rowsOf<{ id: string }>(
    handle,
    `select id from checkout_sessions
     where status = 'active' and payment_status = 'confirming' and chain_id = ? and expires_at <= ?
     order by expires_at limit ?`,
    [chainId, now - UNWATCHED_MS, limit],
  );
  for (const { id } of rows) {
    const confirming = (await books.transactions.ofSession(id)).filter(one => one.status === 'confirming');
    for (const one of confirming) await books.write(overtaken(await books.account(one.id), now));
    await books.events.insert([expiredEvent(await books.sessionOf(id), now)]);
  }
  return rows.length;
}

/** Ends what was opened of a link, as `Settlement.endSessionsOf` says. */
export async function endSessionsOf(books: SettlementUnit, linkId: string): Promise<number> {
  return (await end(books, 'payment_link_id = ?', [linkId])).length;
}

/** Ends the active sessions that a condition holds for, except those whose payment is being confirmed. */
async function end(
  { handle, seals, events, now }: SettlementUnit,
  condition: string,
  bindings: readonly Binding[],
): Promise<CheckoutSession[]> {
  const rows = await rowsOf<SessionRow>(
    handle,
    `update checkout_sessions set status = 'expired', ended_at = ?, updated_at = ?
     where status = 'active' and payment_status <> 'confirming' and ${condition} returning *`,
    [now, now, ...bindings],
  );
  const sessions = rows.map(row => sessionOf(row, seals));
  await events.insert(sessions.map(session => expiredEvent(session, now)));
  return sessions;
}

function expiredEvent(session: CheckoutSession, now: number): NewEvent {
  const { id, organizationId, mode } = session;
  const data = checkoutExpiredData(session);
  return {
    event: { id: newId('evt'), organizationId, mode, type: 'checkout.expired', createdAt: now, data },
    fact: `${id}:expired`,
    place: 0,
  };
}
