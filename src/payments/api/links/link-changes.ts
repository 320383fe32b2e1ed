import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { paymentsError } from '#contract/contracts/payments-errors.ts';
import { InvalidBody } from '#contract/contracts/violations.ts';
import type { Transaction } from '#db/open.ts';
import { newId, randomBase62 } from '#lib/ids.ts';
import { nameImages, picturesOfLink } from '../../images/image-names.ts';
import type { LinkDefaults } from '../../model/owner.ts';
import { normalToken } from '../../model/payment-chain.ts';
import { isSoldOut, type PaymentLink } from '../../model/payment-link.ts';
import { nameRecipient } from '../../recipients/recipient-lock.ts';
import { releaseUses } from '../../sessions/use-reservations.ts';
import { type Settlement, settlement } from '../../settlement/settlement.ts';
import { linkStore } from '../../store/link-store.ts';
import { organizationStore } from '../../store/organization-store.ts';
import type { ApiCaller, ApiHandlers, PaymentsContext } from '../gate/api-context.ts';
import { resourceNotFound } from '../responses/answers.ts';
import { checkUnchanged } from '../responses/precondition.ts';
import { linkBody } from '../responses/record-bodies.ts';
import { BUTTON_TEXT, linkFields } from './link-fields.ts';
import { checkDestination, checkPrices, type IsGiven, type PaymentDestination } from './link-terms.ts';

/** Length of a generated code, short enough to be read out loud. There are 218 trillion such codes. */
const CODE_LENGTH = 8;
const CODE_ATTEMPTS = 5;

/** Operations that create and change links. Open sessions keep their terms (Decisions 108 and 109). */
export function linkChangeHandlers({ chains, clock, publicUrl, seals }: PaymentsContext) {
  return {
    createPaymentLink: ({ body }, caller) =>
      caller.commit(async handle => {
        const now = clock.now();
        const { defaults } = await organizationStore(handle).profile(caller);
        const destination = destinationOf(body, defaults);
        const fields = linkFields(body, now);
        const isGiven = givenIn(body);
        checkPrices(fields, isGiven);
        checkDestination(destination, { chains, mode: caller.mode }, isGiven);
        await nameRecipient(handle, caller, { destination, seals, now });
        const id = newId('pl');
        const link: PaymentLink = {
          ...blank(caller, now),
          ...fields,
          ...destination,
          id,
          name: body.name.trim(),
          shortCode: await reserve(handle, id, body.short_code),
        };
        await nameImages(handle, picturesOfLink(link), now);
        await linkStore(handle).insert(link);
        return { status: 201, body: linkBody(link, { publicUrl, now }) };
      }),

    updatePaymentLink: ({ path, body }, caller) =>
      caller.commit(async handle => {
        const now = clock.now();
        const fields = linkFields(body, now);
        const isGiven = givenIn(body);
        checkPrices(fields, isGiven);
        const store = linkStore(handle);
        const link = await store.find(caller, path.payment_link_id);
        if (link === undefined) throw resourceNotFound('payment_link', path.payment_link_id);
        checkUnchanged(caller, () => linkBody(link, { publicUrl, now }));
        const changed: PaymentLink = { ...link, ...fields, updatedAt: now };
        checkPrices(changed, isGiven);
        const moved = movedField(link, changed);
        if (moved !== undefined) {
          checkDestination(changed, { chains, mode: caller.mode }, isGiven);
          await nameRecipient(handle, caller, { destination: changed, seals, now });
          if (await store.hasSessions(link.id)) throw cannotMove(moved);
        }
        if (changed.shortCode !== link.shortCode) await reserve(handle, link.id, changed.shortCode);
        await nameImages(handle, picturesOfLink(changed), now);
        await store.update(changed);
        await followUses(settlement({ handle, seals, now }), link, changed);
        if (link.reserveUses && !changed.reserveUses) await releaseUses(handle, link.id, now);
        return { status: 200, body: linkBody(changed, { publicUrl, now }) };
      }),
  } satisfies ApiHandlers;
}

/** Ends the sessions of a link whose `max_uses` leaves no use, and opens them again when it leaves one (Decision 355). */
async function followUses(
  settle: Pick<Settlement, 'endSoldOut' | 'reopenSessionsOf'>,
  before: PaymentLink,
  after: PaymentLink,
): Promise<void> {
  if (isSoldOut(before) === isSoldOut(after)) return;
  if (isSoldOut(after)) await settle.endSoldOut(after.id);
  else await settle.reopenSessionsOf(after.id);
}

/** Owner, times and default values of a new link. */
function blank({ organizationId, mode }: ApiCaller, now: number) {
  return {
    organizationId,
    mode,
    description: null,
    isActive: true,
    amount: null,
    minAmount: null,
    maxAmount: null,
    suggestedAmount: null,
    imageUrl: null,
    themeColor: null,
    buttonText: BUTTON_TEXT,
    returnUrl: null,
    returnLabel: null,
    branding: null,
    formSchema: null,
    shippingOptions: [],
    collectShippingAddress: false,
    items: [],
    maxUses: null,
    reserveUses: false,
    currentUses: 0,
    paymentMethod: 'exact_amount' as const,
    toleranceBps: null,
    expiresAt: null,
    metadata: {},
    createdAt: now,
    updatedAt: now,
  };
}

/** @throws HttpError missing_required_field for the first term that neither the request nor the organization names */
function destinationOf(
  body: PaymentsSchemas['PaymentLinkCreation'],
  defaults: LinkDefaults,
): PaymentDestination {
  const tokenAddress = body.token_address ?? defaults.tokenAddress;
  const chainId = body.chain_id ?? defaults.chainId;
  const recipientAddress = body.recipient_address ?? defaults.recipientAddress;
  if (tokenAddress === null) throw missing('token_address');
  if (chainId === null) throw missing('chain_id');
  if (recipientAddress === null) throw missing('recipient_address');
  return {
    tokenAddress: normalToken(tokenAddress),
    chainId,
    recipientAddress: recipientAddress.toLowerCase(),
  };
}

function missing(field: string): InvalidBody {
  const rule = 'is required, because the organization has no default for it';
  return new InvalidBody(field, rule, { code: 'missing_required_field' });
}

/**
 * Reserves a short code. A code is never assigned twice, even after its link was deleted.
 * @throws HttpError duplicate_resource
 */
export async function reserve(
  handle: Transaction,
  linkId: string,
  chosen: string | undefined,
): Promise<string> {
  const store = linkStore(handle);
  if (chosen !== undefined) {
    if (await store.reserveShortCode(chosen, linkId)) return chosen;
    throw paymentsError('duplicate_resource', `The short code '${chosen}' is taken, or was once.`, {
      param: 'short_code',
    });
  }
  for (let attempt = 0; attempt < CODE_ATTEMPTS; attempt++) {
    const code = randomBase62(CODE_LENGTH);
    if (await store.reserveShortCode(code, linkId)) return code;
  }
  throw new Error(`${CODE_ATTEMPTS} random short codes were all taken`);
}

/** Contract name of the first field of the destination that changes. */
function movedField(before: PaymentDestination, after: PaymentDestination): string | undefined {
  if (before.tokenAddress !== after.tokenAddress) return 'token_address';
  if (before.chainId !== after.chainId) return 'chain_id';
  return before.recipientAddress === after.recipientAddress ? undefined : 'recipient_address';
}

function cannotMove(field: string) {
  const message = `The '${field}' field can no longer change: the link has checkout sessions.`;
  return paymentsError('invalid_status_transition', message, { param: field });
}

/** Returns a function that is true for the fields of a body. */
export function givenIn(body: object): IsGiven {
  return field => Object.hasOwn(body, field);
}
