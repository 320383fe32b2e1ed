import { setImmediate } from 'node:timers/promises';
import type { Transaction } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import { newId } from '#lib/ids.ts';
import { nameImages, picturesOfLink } from '#payments/images/image-names.ts';
import type { PaymentLink } from '#payments/model/payment-link.ts';
import { nameRecipient } from '#payments/recipients/recipient-lock.ts';
import { sessionStore } from '#payments/sessions/session-store.ts';
import { settlement } from '#payments/settlement/settlement.ts';
import { linkStore } from '#payments/store/link-store.ts';
import type { ApiHandlers, PaymentsContext } from '../gate/api-context.ts';
import { pagedList, periodOf, resourceNotFound } from '../responses/answers.ts';
import { linkBody, sessionBody } from '../responses/record-bodies.ts';
import { givenIn, linkChangeHandlers, reserve } from './link-changes.ts';
import { linkFields } from './link-fields.ts';
import { checkDestination, checkPrices } from './link-terms.ts';

/** Rows of a deleted link that one database transaction changes. */
const CHANGED_AT_ONCE = 200;

/** Operations on links and their sessions. A session keeps its terms when its link changes (Decisions 96, 108, 109). */
export function linkHandlers(context: PaymentsContext) {
  const { db, seals, clock, publicUrl } = context;
  return {
    ...linkChangeHandlers(context),
    ...linkCopyHandlers(context),

    async listPaymentLinks({ query }, caller) {
      const { active, sort, order, page, limit } = query;
      const search = query.search?.trim();
      const links = await linkStore(db).list(caller, { search, active, sort, order }, { page, limit });
      const now = clock.now();
      const body = pagedList('/api/v1/payment-links', links, link => linkBody(link, { publicUrl, now }));
      return { status: 200, body };
    },

    async getPaymentLink({ path }, caller) {
      const link = await linkStore(db).find(caller, path.payment_link_id);
      if (link === undefined) throw resourceNotFound('payment_link', path.payment_link_id);
      return { status: 200, body: linkBody(link, { publicUrl, now: clock.now() }) };
    },

    deletePaymentLink: ({ path: { payment_link_id: id } }, caller) =>
      caller.commitAround({
        async begin(handle) {
          const link = await linkStore(handle).find(caller, id);
          if (link === undefined) throw resourceNotFound('payment_link', id);
          await linkStore(handle).update({ ...link, isActive: false, updatedAt: clock.now() });
        },
        // One statement over all sessions would block all other requests on SQLite for seconds.
        async send() {
          const detachSome = async (handle: Transaction) =>
            (await settlement({ handle, seals, now: clock.now() }).detachSessionsOf(id, CHANGED_AT_ONCE)) +
            (await linkStore(handle).detachTransactions(id, CHANGED_AT_ONCE));
          while ((await transaction(db, detachSome)) > 0) await setImmediate();
        },
        async end(handle) {
          // Ends sessions opened since `begin`, which is possible when another request activates the link.
          await settlement({ handle, seals, now: clock.now() }).endSessionsOf(id);
          await nameImages(handle, { ...caller, linkId: id, addresses: [] }, clock.now());
          await linkStore(handle).remove(caller, id);
          return { status: 200, body: { object: 'payment_link', id, deleted: true } as const };
        },
      }),

    async listPaymentLinkSessions({ path: { payment_link_id: id }, query }, caller) {
      const { status, outcome, page, limit, ...period } = query;
      if ((await linkStore(db).find(caller, id)) === undefined) throw resourceNotFound('payment_link', id);
      const filter = { status, outcome, paymentLinkId: id, ...periodOf(period) };
      const sessions = await sessionStore(db, seals).list(caller, filter, { page, limit });
      const path = `/api/v1/payment-links/${id}/sessions`;
      return { status: 200, body: pagedList(path, sessions, session => sessionBody(session, context)) };
    },
  } satisfies ApiHandlers;
}

/** Maximum length of a link's name. Source: `PaymentLinkCreation` of the contract. */
const LONGEST_NAME = 100;

/** Operation that copies a link. The copy has its own code, uses and item ids (Decision 222). */
function linkCopyHandlers({ chains, clock, publicUrl, seals }: PaymentsContext) {
  return {
    duplicatePaymentLink: ({ path, body }, caller) =>
      caller.commit(async handle => {
        const now = clock.now();
        const fields = linkFields(body, now);
        const isGiven = givenIn(body);
        checkPrices(fields, isGiven);
        const store = linkStore(handle);
        const original = await store.find(caller, path.payment_link_id);
        if (original === undefined) throw resourceNotFound('payment_link', path.payment_link_id);
        const id = newId('pl');
        const terms: PaymentLink = { ...copyOf(original, now), ...fields, id };
        checkPrices(terms, isGiven);
        checkDestination(terms, { chains, mode: caller.mode }, isGiven);
        await nameRecipient(handle, caller, { destination: terms, seals, now });
        const link = { ...terms, shortCode: await reserve(handle, id, body.short_code) };
        await nameImages(handle, picturesOfLink(link), now);
        await store.insert(link);
        return { status: 201, body: linkBody(link, { publicUrl, now }) };
      }),
  } satisfies ApiHandlers;
}

/** An active, unused copy of a link with new item ids. An expiry in the past is left out. */
function copyOf(original: PaymentLink, now: number): PaymentLink {
  const { expiresAt } = original;
  return {
    ...original,
    name: [...`Copy of ${original.name}`].slice(0, LONGEST_NAME).join('').trimEnd(),
    isActive: true,
    currentUses: 0,
    items: original.items.map(item => ({ ...item, id: newId('pli') })),
    expiresAt: expiresAt !== null && expiresAt <= now ? null : expiresAt,
    createdAt: now,
    updatedAt: now,
  };
}
