import type { PaymentsHandlers } from '../../contract/contracts/payments.ts';
import { paymentsError, waitError } from '../../contract/contracts/payments-errors.ts';
import type { Handle } from '../../db/open.ts';
import { transaction } from '../../db/transaction.ts';
import { DAY_MS, timestamp } from '../../lib/clock.ts';
import { newId, randomBase62 } from '../../lib/ids.ts';
import type { Notice } from '../model/notification.ts';
import type { CheckoutSession } from '../model/session.ts';
import { noticeStore } from '../notifications/store/notice-store.ts';
import { refundAddressStore } from '../refunds/refund-address-store.ts';
import type { Seals } from '../secrets/sealed.ts';
import { sessionStore } from '../sessions/session-store.ts';
import { type CheckoutDeps, knownSession, refuseUnpaid } from './proofs.ts';

/** Lifetime of a mailed link, and the most that a session has within that time (Decision 363). */
const LINK_LIFETIME_MS = DAY_MS;
const MAX_LINKS = 3;
const TOKEN_LENGTH = 32;

/** Operation that mails the payer a link to state the address of a refund (Decision 363). */
export function refundLinks(deps: CheckoutDeps): Pick<PaymentsHandlers<never, unknown>, 'mailRefundLink'> {
  const { db, seals, clock, publicUrl } = deps;
  return {
    async mailRefundLink({ path: { checkout_session_id: id } }) {
      const token = randomBase62(TOKEN_LENGTH);
      const now = clock.now();
      const expiresAt = now + LINK_LIFETIME_MS;
      await transaction(db, async handle => {
        const session = await knownSession(sessionStore(handle, seals), id);
        await refuseUnpaid(handle, id);
        const store = refundAddressStore(handle);
        const ends = await store.linkEnds(id, now);
        const [first = now] = ends;
        if (ends.length >= MAX_LINKS)
          throw waitError(first - now, wait => `${MAX_LINKS} links were asked for. Retry after ${wait}.`);
        // Also without an e-mail address, so that all answers are alike.
        await store.addLink({ sessionId: id, tokenHash: hashOf(token, seals), expiresAt });
        // The part of an address behind the # is in no request and no log.
        const url = `${publicUrl}/pay/s/${id}#refund=${token}`;
        await noticeStore(handle, seals).insert(linkNotices(session, { url, expiresAt, now }));
      });
      const body = { object: 'refund_link', session_id: id, expires_at: timestamp(expiresAt) } as const;
      return { status: 200, body };
    },
  };
}

/** Uses up a mailed link. @throws HttpError 400 for a token that cannot be used */
export async function useLink(
  handle: Handle,
  { sessionId, token }: { readonly sessionId: string; readonly token: string },
  { seals, clock }: Pick<CheckoutDeps, 'seals' | 'clock'>,
): Promise<void> {
  const link = { sessionId, tokenHash: hashOf(token, seals) };
  if (await refundAddressStore(handle).useLink(link, clock.now())) return;
  const message =
    "The 'token' field must be of a link of this checkout that was not used and has not expired.";
  throw paymentsError('invalid_field_value', message, { param: 'token' });
}

function hashOf(token: string, seals: Seals): string {
  return seals.hash(token, { table: 'refund_links', column: 'token_hash' });
}

/** The mail to the payer, if an e-mail address was left when the session was started. */
function linkNotices(
  { organizationId, mode, customerEmail, presentation }: CheckoutSession,
  { url, expiresAt, now }: { readonly url: string; readonly expiresAt: number; readonly now: number },
): Notice[] {
  if (customerEmail === null) return [];
  const { name: product, language } = presentation;
  const payload = { kind: 'refund_link', email: customerEmail, url, product, expiresAt, language } as const;
  const id = newId('ntc');
  return [{ id, organizationId, mode, channel: 'email', payload, attempts: 0, createdAt: now }];
}
