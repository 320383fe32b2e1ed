import type { PaymentsHandlers } from '#contract/contracts/payments.ts';
import { newId } from '#lib/ids.ts';
import type { PaymentLink } from '../../model/payment-link.ts';
import { nameRecipient } from '../../recipients/recipient-lock.ts';
import { linkStore } from '../../store/link-store.ts';
import type { AnonymousCaller, ApiCaller, PaymentsContext } from '../gate/api-context.ts';
import { notFound } from '../responses/answers.ts';
import { linkBody } from '../responses/record-bodies.ts';
import { givenIn, reserve } from './link-changes.ts';
import { linkFields } from './link-fields.ts';
import { checkPlace, checkPrices } from './link-terms.ts';

/** Maximum length of a link's name. Source: `PaymentLinkCreation` of the contract. */
const LONGEST_NAME = 100;

/** Operation that copies a link. The copy has its own code, uses and item ids (Decision 222). */
export function linkCopyHandlers({
  chains,
  clock,
  publicUrl,
}: PaymentsContext): Pick<PaymentsHandlers<ApiCaller, AnonymousCaller>, 'duplicatePaymentLink'> {
  return {
    duplicatePaymentLink: ({ path, body }, caller) =>
      caller.commit(async handle => {
        const now = clock.now();
        const fields = linkFields(body, now);
        const isGiven = givenIn(body);
        checkPrices(fields, isGiven);
        const store = linkStore(handle);
        const original = await store.find(caller, path.payment_link_id);
        if (original === undefined) throw notFound('payment_link', path.payment_link_id);
        const id = newId('pl');
        const terms: PaymentLink = { ...copyOf(original, now), ...fields, id };
        checkPrices(terms, isGiven);
        checkPlace(terms, { chains, mode: caller.mode }, isGiven);
        await nameRecipient(handle, caller, { place: terms, now });
        const link = { ...terms, shortCode: await reserve(handle, id, body.short_code) };
        await store.insert(link);
        return { status: 201, body: linkBody(link, { publicUrl, now }) };
      }),
  };
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
