import type { OperationRequest } from '../../contract/contracts/operations.ts';
import type { PaymentsOperations, PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { faultError, paymentsError } from '../../contract/contracts/payments-errors.ts';
import { InvalidBody } from '../../contract/contracts/violations.ts';
import type { Transaction } from '../../db/open.ts';
import { newId } from '../../lib/ids.ts';
import { missing } from '../model/fault.ts';
import type { Mode, Owner } from '../model/owner.ts';
import { normalToken, type PaymentChains } from '../model/payment-chain.ts';
import type { CheckoutSession } from '../model/session.ts';
import { lockFault, nameRecipient } from '../recipients/recipient-lock.ts';
import { foundSessions, searchOf } from '../search/session-search.ts';
import { type OwnTerms, openingOf, type Terms } from '../sessions/opening.ts';
import type { SessionFilters } from '../sessions/session-filters.ts';
import { sessionStore } from '../sessions/session-store.ts';
import { reservationEnd, reservedFault } from '../sessions/use-reservations.ts';
import { settlement } from '../settlement/settlement.ts';
import { linkStore } from '../store/link-store.ts';
import type { ApiHandlers, PaymentsContext } from './gate/api-context.ts';
import { checkDestination } from './links/link-terms.ts';
import { cursorRefused, periodOf, resourceNotFound, sortedList } from './responses/answers.ts';
import { sessionBody } from './responses/record-bodies.ts';
import { sessionsCsv } from './responses/sessions-csv.ts';

/** Operations of merchants on sessions, which have three states (Decision 110). */
export function sessionHandlers(context: PaymentsContext) {
  const { db, seals, clock, chains } = context;
  return {
    async listCheckoutSessions({ query }, caller) {
      const search = searchOf(query, caller, chains);
      const sessions = await foundSessions({ handle: db, seals }, search, filtersOf(query), query).catch(
        cursorRefused,
      );
      const body = sortedList('/api/v1/checkout-sessions', sessions, one => sessionBody(one, context));
      return { status: 200, body };
    },

    async exportCheckoutSessions({ query }, caller) {
      const search = searchOf(query, caller, chains);
      return sessionsCsv(context, search, filtersOf(query));
    },

    createCheckoutSession: ({ body }, caller) =>
      caller.commit(async handle => {
        const terms = await termsOf(handle, body, { ...context, owner: caller });
        const opening = openingOf(terms, body, {
          id: newId('cs'),
          organizationId: caller.organizationId,
          mode: caller.mode,
          merchant: caller.merchant,
          chains: context.chains,
          now: clock.now(),
          lifetimeMs: body.expires_in * 1000,
          successUrl: body.success_url ?? undefined,
          cancelUrl: body.cancel_url ?? null,
        });
        if ('fault' in opening) throw faultError(opening.fault);
        const { draft } = opening;
        const now = draft.createdAt;
        let useReservedUntil: number | null = null;
        if ('own' in terms) {
          await nameRecipient(handle, caller, { destination: draft, seals, now });
        } else {
          const fault = (await lockFault(handle, draft)) ?? (await reservedFault(handle, terms.link, now));
          if (fault !== undefined) throw faultError(fault);
          useReservedUntil = reservationEnd(terms.link, { now, ...draft });
        }
        const session = await sessionStore(handle, seals).open({ ...draft, useReservedUntil });
        return { status: 201, body: sessionBody(session, context) };
      }),

    async getCheckoutSession({ path: { checkout_session_id } }, caller) {
      const session = await sessionStore(db, seals).find(caller, checkout_session_id);
      if (session === undefined) throw resourceNotFound('checkout_session', checkout_session_id);
      return { status: 200, body: sessionBody(session, context) };
    },

    expireCheckoutSession: ({ path: { checkout_session_id } }, caller) =>
      caller.commit(async handle => {
        const session = await sessionStore(handle, seals).find(caller, checkout_session_id);
        if (session === undefined) throw resourceNotFound('checkout_session', checkout_session_id);
        const ended = await settlement({ handle, seals, now: clock.now() }).expire(session.id);
        if (ended === undefined) throw cannotEnd(session);
        return { status: 200, body: sessionBody(ended, context) };
      }),

    acceptCheckoutSession: ({ path: { checkout_session_id }, body: { reason } }, caller) =>
      caller.commit(async handle => {
        const session = await sessionStore(handle, seals).find(caller, checkout_session_id);
        if (session === undefined) throw resourceNotFound('checkout_session', checkout_session_id);
        const decision = { actor: caller.actor, reason: reason?.trim() ?? null };
        const result = await settlement({ handle, seals, now: clock.now() }).accept(session, decision);
        if ('refusal' in result) {
          const message = `The checkout session ${result.refusal}, so it cannot be accepted.`;
          throw paymentsError('invalid_status_transition', message);
        }
        return { status: 200, body: sessionBody(result.session, context) };
      }),
  } satisfies ApiHandlers;
}

/** Simulated payments of test sessions, without a chain. A live key gets a 404 (Decision 116). */
export function simulationHandlers(context: PaymentsContext) {
  const { seals, clock } = context;
  return {
    simulatePayment: ({ path: { checkout_session_id: id }, body: { outcome } }, caller) =>
      caller.commit(async handle => {
        if (caller.mode !== 'test') throw resourceNotFound('checkout_session', id);
        const sessions = sessionStore(handle, seals);
        const session = await sessions.find(caller, id);
        if (session === undefined) throw resourceNotFound('checkout_session', id);
        if (outcome === 'underpaid' && session.amount === 1n) {
          const message = 'An amount of 1 cannot be paid only in part.';
          throw paymentsError('invalid_field_value', message, { param: 'outcome' });
        }
        const settled = settlement({ handle, seals, now: clock.now() });
        if ((await settled.simulate(session, outcome)) === undefined) {
          throw paymentsError(
            'invalid_status_transition',
            `The checkout session is ${session.status}, so it cannot be paid.`,
          );
        }
        const paid = await sessions.find(caller, id);
        return { status: 200, body: sessionBody(paid ?? session, context) };
      }),
  } satisfies ApiHandlers;
}

type Query = OperationRequest<PaymentsOperations['exportCheckoutSessions']>['query'];

/** Filters of a request, as the list takes them. */
function filtersOf({
  status,
  outcome,
  refunded,
  unmatched,
  ...others
}: Omit<Query, 'format'>): SessionFilters {
  const { payment_link_id, chain_id, token_address, ...period } = others;
  return {
    status,
    outcome,
    isRefunded: refunded,
    isCandidate: unmatched,
    paymentLinkId: payment_link_id,
    chainId: chain_id,
    tokenAddress: token_address && normalToken(token_address),
    ...periodOf(period),
  };
}

type Body = PaymentsSchemas['CheckoutSessionCreation'];

async function termsOf(
  handle: Transaction,
  body: Body,
  { chains, owner }: Pick<PaymentsContext, 'chains'> & { owner: Owner },
): Promise<Terms> {
  const { payment_link_id } = body;
  if (payment_link_id === undefined) return { own: ownTermsOf(body, { chains, mode: owner.mode }) };
  refuseFixedTerms(body);
  const link = await linkStore(handle).find(owner, payment_link_id);
  if (link === undefined) throw resourceNotFound('payment_link', payment_link_id);
  return { link };
}

/** Terms that every link fixes. A request with a link must not contain them. */
const FIXED_BY_LINK = ['token_address', 'chain_id', 'recipient_address'] as const;

/** @throws InvalidBody for terms that the link has fixed (Decision 110). */
function refuseFixedTerms(body: Body): void {
  const field = FIXED_BY_LINK.find(name => body[name] !== undefined);
  if (field !== undefined) throw new InvalidBody(field, 'must be left out, because the payment link sets it');
}

/** Terms of a session without a link. @throws HttpError naming the first missing term, then the first wrong one. */
function ownTermsOf(body: Body, context: { chains: PaymentChains; mode: Mode }): OwnTerms {
  const terms = {
    chainId: present(body, 'chain_id'),
    tokenAddress: normalToken(present(body, 'token_address')),
    recipientAddress: present(body, 'recipient_address').toLowerCase(),
    amount: BigInt(present(body, 'amount')),
  };
  checkDestination(terms, context, () => true);
  return terms;
}

/** Required terms, in the order in which missing ones are reported. */
const OWN_TERMS = [...FIXED_BY_LINK, 'amount'] as const;

function present<Name extends (typeof OWN_TERMS)[number]>(body: Body, name: Name): NonNullable<Body[Name]> {
  const value = body[name];
  if (value !== undefined) return value;
  const first = OWN_TERMS.find(term => body[term] === undefined) ?? name;
  throw faultError(missing(first));
}

function cannotEnd({ status }: CheckoutSession) {
  const reason = status === 'active' ? 'has a payment that is being confirmed' : `is ${status}`;
  return paymentsError('invalid_status_transition', `The checkout session ${reason}, so it cannot be ended.`);
}
