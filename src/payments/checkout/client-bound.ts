import { paymentsError } from '../../contract/contracts/payments-errors.ts';
import { type Client, limitKey } from '../../http/client-address.ts';
import type { PaymentLink } from '../model/payment-link.ts';
import type { Seals } from '../secrets/sealed.ts';
import type { SessionStore } from '../sessions/session-store.ts';

/** Open sessions of one link that one client address may have without a wallet that signed. Decision 134. */
export const OPEN_SESSIONS_PER_CLIENT = 20;

/** A keyed hash of a link and a client's address, so that no address is stored; undefined for a client that is exempt. */
export function clientHashOf(
  seals: Seals,
  { id }: Pick<PaymentLink, 'id'>,
  client: Client,
): string | undefined {
  const key = limitKey(client);
  if (key === undefined) return undefined;
  return seals.hash(JSON.stringify([id, key]), { table: 'checkout_sessions', column: 'client_hash' });
}

/**
 * Keeps one client from using up the exact amounts of a link.
 * @throws HttpError 429 with the time until the first of its open sessions ends
 */
export async function refuseBeyondBound(
  sessions: Pick<SessionStore, 'endsOfClient'>,
  clientHash: string | undefined,
  now: number,
): Promise<void> {
  if (clientHash === undefined) return;
  const ends = await sessions.endsOfClient(clientHash, { now, limit: OPEN_SESSIONS_PER_CLIENT });
  const [first = now] = ends;
  if (ends.length < OPEN_SESSIONS_PER_CLIENT) return;
  const seconds = Math.max(1, Math.ceil((first - now) / 1000));
  throw paymentsError(
    'rate_limit_exceeded',
    `Too many open checkouts of this link. Pay one from a wallet, or retry after ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`,
    { headers: { 'Retry-After': String(seconds) } },
  );
}
