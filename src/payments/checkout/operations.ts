import type { PaymentsHandlers } from '../../contract/contracts/payments.ts';
import { faultError, paymentsError, waitError } from '../../contract/contracts/payments-errors.ts';
import { transaction } from '../../db/transaction.ts';
import { type Client, limitKey } from '../../http/client-address.ts';
import { namesTag } from '../../http/send.ts';
import { newId } from '../../lib/ids.ts';
import { type FieldError, wrong } from '../model/fault.ts';
import type { PaymentLink } from '../model/payment-link.ts';
import { lockFault } from '../recipients/recipient-lock.ts';
import type { Seals } from '../secrets/sealed.ts';
import { openingOf, type SessionDraft } from '../sessions/opening.ts';
import { type SessionStore, sessionStore } from '../sessions/session-store.ts';
import { reservedFault } from '../sessions/use-reservations.ts';
import { linkStore } from '../store/link-store.ts';
import { organizationStore } from '../store/organization-store.ts';
import { checkoutBody, shownState } from './bodies.ts';
import {
  type CheckoutDeps,
  claims,
  knownSession,
  type PayerRequest,
  walletBinding,
  walletOrigins,
} from './proofs.ts';
import { refundAddresses } from './refund-address.ts';
import { refundLinks } from './refund-links.ts';
import { reports } from './reports.ts';
import { stateTag } from './state-waits.ts';

type CheckoutHandlers = Pick<
  PaymentsHandlers<never, PayerRequest>,
  | 'startCheckout'
  | 'getCheckout'
  | 'getCheckoutState'
  | 'bindWallet'
  | 'claimPayment'
  | 'reportPayment'
  | 'getRefundAddress'
  | 'stateRefundAddress'
  | 'mailRefundLink'
>;

/**
 * Refuses a payer's price that is the exact amount of an open session. Someone who saw that amount on its way could
 * otherwise have it listed as meant for a checkout of his own (Decision 337).
 */
async function priceFault(sessions: SessionStore, draft: SessionDraft): Promise<FieldError | undefined> {
  const asked = await sessions.byAmount(draft, draft.amount, draft.createdAt);
  if (!asked.some(({ status }) => status === 'active')) return undefined;
  return wrong('amount', 'is taken by another open checkout; choose one that differs a little');
}

/** Operations of the payer. They need the session's id and no key (Decision 114). */
export function checkoutHandlers(deps: CheckoutDeps): CheckoutHandlers {
  const { db, seals, clock, chains } = deps;

  return {
    async startCheckout({ path: { short_code }, body }, payer) {
      const { session, contact } = await transaction(db, async handle => {
        const link = await linkStore(handle).findByShortCode(short_code);
        if (link === undefined)
          throw paymentsError('resource_not_found', `No payment_link with short code '${short_code}'.`);
        const clientHash = clientHashOf(seals, link, payer.client);
        await refuseBeyondBound(sessionStore(handle, seals), clientHash, clock.now());
        const merchant = await organizationStore(handle).profile(link);
        const opening = openingOf({ link }, body, {
          id: newId('cs'),
          organizationId: link.organizationId,
          mode: link.mode,
          merchant,
          chains,
          now: clock.now(),
          lifetimeMs: deps.sessionLifetimeMs,
          successUrl: undefined,
          cancelUrl: null,
        });
        if ('fault' in opening) throw faultError(opening.fault);
        const { draft } = opening;
        const sessions = sessionStore(handle, seals);
        const fault =
          (await lockFault(handle, draft)) ??
          (await reservedFault(handle, link, draft.createdAt)) ??
          (body.amount === undefined ? undefined : await priceFault(sessions, draft));
        if (fault !== undefined) throw faultError(fault);
        return { session: await sessions.open({ ...draft, clientHash }), contact: merchant };
      });
      const [origin] = await walletOrigins(deps, session, payer);
      return {
        status: 201,
        body: checkoutBody(session, { ...deps, contact }, { origin, address: undefined }),
      };
    },

    async getCheckout({ path: { checkout_session_id }, query: { wallet_address: address } }, payer) {
      const session = await knownSession(sessionStore(db, seals), checkout_session_id);
      const [origin] = await walletOrigins(deps, session, payer);
      const contact = await organizationStore(db).profile(session);
      const body = checkoutBody(session, { ...deps, contact }, { origin, address });
      // The wallet message names the origin, so a cached copy of one page is wrong for another.
      return { status: 200, headers: { Vary: 'Origin' }, body };
    },

    async getCheckoutState({ path: { checkout_session_id: id }, query: { wait } }, { ifNoneMatch, hungUp }) {
      const state = await shownState(deps, id);
      const isNews = ifNoneMatch === undefined || !namesTag(ifNoneMatch, stateTag(state));
      if (wait === 0 || isNews) return { status: 200, body: state };
      await deps.waits.change({ sessionId: id, held: ifNoneMatch, waitMs: wait * 1000, signal: hungUp() });
      return { status: 200, body: await shownState(deps, id) };
    },

    ...walletBinding(deps),
    ...claims(deps),
    ...refundAddresses(deps),
    ...refundLinks(deps),
    ...reports(deps),
  };
}

/**
 * Maximum number of open sessions per link and client address, not counting those with a wallet that signed (Decision
 * 134).
 */
const OPEN_SESSIONS_PER_CLIENT = 20;

/** A keyed hash of a link and a client's address, so that no address is stored. Undefined for an exempt client. */
function clientHashOf(seals: Seals, { id }: Pick<PaymentLink, 'id'>, client: Client): string | undefined {
  const key = limitKey(client);
  if (key === undefined) return undefined;
  return seals.hash(JSON.stringify([id, key]), { table: 'checkout_sessions', column: 'client_hash' });
}

/**
 * Prevents one client from using up the exact amounts of a link.
 * @throws HttpError 429 with the time until the first of its open sessions ends
 */
async function refuseBeyondBound(
  sessions: Pick<SessionStore, 'endsOfClient'>,
  clientHash: string | undefined,
  now: number,
): Promise<void> {
  if (clientHash === undefined) return;
  const ends = await sessions.endsOfClient(clientHash, { now, limit: OPEN_SESSIONS_PER_CLIENT });
  const [first = now] = ends;
  if (ends.length < OPEN_SESSIONS_PER_CLIENT) return;
  throw waitError(
    first - now,
    wait => `Too many open checkouts of this link. Pay one from a wallet, or retry after ${wait}.`,
  );
}
