import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { shippingOptionOf, subtotalOf, totalOf } from '../amounts/price.ts';
import { type FieldError, firstFault, missing, notNow, type ReportFault, wrong } from '../model/fault.ts';
import type { Owner, SessionDefaults } from '../model/owner.ts';
import { type DepositRules, type PaymentChains, tokenOf } from '../model/payment-chain.ts';
import { availabilityOf, merchantOf, type PaymentLink } from '../model/payment-link.ts';
import type { CheckoutSession, PaymentMethod, Presentation } from '../model/session.ts';
import { formDataOf } from './form-data.ts';

/** Most keys in the metadata of one record. Source: `MetadataInput` of the contract. */
const MAX_METADATA_KEYS = 50;

/**
 * Validated terms of a merchant's session without a link. Addresses are lower case, the amount in the smallest unit.
 */
export interface OwnTerms {
  readonly chainId: number;
  readonly tokenAddress: string;
  readonly recipientAddress: string;
  readonly amount: bigint;
}

/** Terms of a session: those of a link, or the merchant's own. */
export type Terms = { readonly link: PaymentLink } | { readonly own: OwnTerms };

/** Choices of the payer, or of the merchant on the payer's behalf. Only the merchant attaches metadata and
 * chooses the payment method. */
export type Choices = PaymentsSchemas['CheckoutStart'] &
  Pick<PaymentsSchemas['CheckoutSessionCreation'], 'metadata' | 'payment_method'>;

/** Context in which a session is opened. Times are UTC milliseconds. */
export interface Circumstances extends Owner {
  readonly id: string;
  /** Settings of the organization. Branding and tolerance of the link may replace them. */
  readonly merchant: SessionDefaults;
  readonly chains: PaymentChains;
  readonly now: number;
  readonly lifetimeMs: number;
  /** Undefined for the one of the link. */
  readonly successUrl: string | undefined;
  readonly cancelUrl: string | null;
}

/** A session without its exact amount. */
export interface SessionDraft extends Omit<CheckoutSession, 'amountDue' | 'isWalletOnly' | 'depositAddress'> {
  readonly tokenDecimals: number;
  /** Keyed hash of link and client address; absent for sessions of a merchant or of a client on this machine. */
  readonly clientHash?: string | undefined;
  /** Rules by which a deposit address is issued; undefined when it is to ask for an exact amount. */
  readonly depositRules?: DepositRules | undefined;
}

/**
 * Makes the draft of a session from its terms and choices, or returns the first fault. The terms come from a link with
 * the contract's fields (Decision 108) or from the body (Decision 110). Only an available link starts sessions
 * (Decision 109).
 */
export function openingOf(
  terms: Terms,
  choices: Choices,
  circumstances: Circumstances,
): { readonly draft: SessionDraft } | { readonly fault: FieldError } {
  const { id, organizationId, mode, now, lifetimeMs, successUrl, cancelUrl } = circumstances;
  const faults: FieldError[] = [];
  const destination = 'link' in terms ? terms.link : terms.own;
  const report: ReportFault = fault => faults.push(fault);
  const chosen = chosenOf(terms, choices, report);
  const metadata = metadataOf(terms, choices, report);
  const texts = sessionTextsOf(choices, report);
  // State is checked last (Decision 100), because a fault of the body does not depend on it.
  const fault = firstFault(faults) ?? unavailable(terms, circumstances);
  if (fault !== undefined) return { fault };
  const chain = circumstances.chains.byId(destination.chainId);
  const token = tokenOf(chain, destination.tokenAddress);
  if (token === undefined) throw new Error(`Chain ${chain.id} has no token ${destination.tokenAddress}.`);
  const draft: SessionDraft = {
    id,
    organizationId,
    mode,
    paymentLinkId: 'link' in terms ? terms.link.id : null,
    status: 'active',
    paymentStatus: 'awaiting_payment',
    chainId: chain.id,
    tokenAddress: destination.tokenAddress,
    tokenDecimals: token.decimals,
    recipientAddress: destination.recipientAddress,
    ...chosen,
    depositRules: wantedMethod(terms, choices) === 'deposit_address' ? chain.depositAddresses : undefined,
    toleranceBps: ('link' in terms ? terms.link.toleranceBps : null) ?? circumstances.merchant.toleranceBps,
    amountReceived: 0n,
    amountRefunded: 0n,
    amountReserved: 0n,
    amountOverpaid: 0n,
    presentation: presentationOf(terms, circumstances.merchant, choices),
    signedAddress: null,
    payerAddress: null,
    txHash: null,
    confirmations: 0,
    requiredConfirmations: chain.confirmations,
    transactionId: null,
    failureReason: null,
    isLate: false,
    isReorged: false,
    useReservedUntil: null,
    customerId: null,
    acceptedAt: null,
    acceptedBy: null,
    acceptedReason: null,
    acceptedAmount: null,
    successUrl: successUrl ?? ('link' in terms ? terms.link.returnUrl : null),
    cancelUrl,
    ...texts,
    metadata,
    expiresAt: endOf(terms, now + lifetimeMs),
    createdAt: now,
    updatedAt: now,
    completedAt: null,
    endedReason: null,
    endedAt: null,
  };
  return { draft };
}

function wantedMethod(terms: Terms, choices: Choices): PaymentMethod {
  return choices.payment_method ?? ('link' in terms ? terms.link.paymentMethod : 'exact_amount');
}

type Chosen = Pick<SessionDraft, 'subtotal' | 'amount' | 'shippingOption' | 'shippingAddress' | 'formData'>;

function chosenOf(terms: Terms, choices: Choices, report: ReportFault): Chosen {
  const link = 'link' in terms ? terms.link : undefined;
  const subtotal = 'link' in terms ? subtotalOf(terms.link, choices.amount, report) : terms.own.amount;
  const shippingOption = shippingOptionOf(link?.shippingOptions ?? [], choices.shipping_option_id, report);
  return {
    subtotal,
    amount: totalOf(subtotal, shippingOption, report),
    shippingOption,
    shippingAddress: shippingAddressOf(link, choices.shipping_address, report),
    formData: formDataOf(link?.formSchema ?? null, choices.form_data, report),
  };
}

/**
 * Metadata of the link, with keys of the choices replacing its own. Each is within the limit, and a payer's choices
 * have no metadata, so only a merchant can exceed it.
 */
function metadataOf(terms: Terms, choices: Choices, report: ReportFault): CheckoutSession['metadata'] {
  const merged = { ...('link' in terms ? terms.link.metadata : {}), ...choices.metadata };
  if (Object.keys(merged).length > MAX_METADATA_KEYS) {
    report(
      wrong('metadata', `must not have more than ${MAX_METADATA_KEYS} keys together with those of the link`),
    );
  }
  return merged;
}

/** Null when the link does not ask for an address. Without a link, the merchant may give one. */
function shippingAddressOf(
  link: PaymentLink | undefined,
  given: Choices['shipping_address'],
  report: ReportFault,
): PaymentsSchemas['ShippingAddress'] | null {
  if (link?.collectShippingAddress === false) return null;
  if (given === undefined || given === null) {
    if (link !== undefined) report(missing('shipping_address'));
    return null;
  }
  const { name = null, line1, line2 = null, city, state = null, zip, country = null } = given;
  return { name, line1, line2, city, state, zip, country };
}

/**
 * The reason why no session may start now; undefined when one may. A removed chain or token is no state of the link.
 */
function unavailable(terms: Terms, { chains, mode, now }: Circumstances): FieldError | undefined {
  const { chainId, tokenAddress } = 'link' in terms ? terms.link : terms.own;
  const availability = 'link' in terms ? availabilityOf(terms.link, now) : 'active';
  if (availability !== 'active') {
    const state = { inactive: 'inactive', used_up: 'used up', expired: 'expired' }[availability];
    return notNow(`The payment link is ${state}, so no checkout can start.`);
  }
  const chain = chains.find(mode, chainId);
  if (chain === undefined || tokenOf(chain, tokenAddress) === undefined)
    return notNow(`Payments in this token on chain ${chainId} are no longer accepted.`);
  return undefined;
}

function presentationOf(
  terms: Terms,
  merchant: SessionDefaults,
  { language }: Pick<Choices, 'language'>,
): Presentation {
  const link = 'link' in terms ? terms.link : undefined;
  return {
    name: link?.name ?? null,
    description: link?.description ?? null,
    imageUrl: link?.imageUrl ?? null,
    themeColor: link?.themeColor ?? null,
    buttonText: link?.buttonText ?? 'Pay',
    returnLabel: link?.returnLabel ?? null,
    merchant: merchantOf(link?.branding, merchant),
    items: link?.items ?? [],
    ...(language != null && { language }),
    formLabels: Object.fromEntries((link?.formSchema?.fields ?? []).map(({ id, label }) => [id, label])),
  };
}

/** A session does not outlive its link. */
function endOf(terms: Terms, end: number): number {
  const limit = 'link' in terms ? terms.link.expiresAt : null;
  return limit === null ? end : Math.min(end, limit);
}

type SessionTexts = Pick<CheckoutSession, 'clientReferenceId' | 'customerEmail' | 'customerName'>;

/**
 * Alternative names of the fields that document 3 prints in camelCase. Other unknown fields are refused (Decision 168).
 */
const SNAKE_CASE = {
  clientReferenceId: 'client_reference_id',
  customerEmail: 'customer_email',
  customerName: 'customer_name',
} as const satisfies Record<keyof SessionTexts, keyof PaymentsSchemas['CheckoutStart']>;

/** The merchant's reference, and the payer's e-mail address and name, under either spelling of the fields. */
function sessionTextsOf(body: PaymentsSchemas['CheckoutStart'], report: ReportFault): SessionTexts {
  const textOf = (name: keyof SessionTexts): string | null => {
    const other = SNAKE_CASE[name];
    const { [name]: text, [other]: same } = body;
    if (text !== undefined && same !== undefined && text !== same) {
      report(wrong(other, `must not differ from '${name}'`));
    }
    return text ?? same ?? null;
  };
  return {
    clientReferenceId: textOf('clientReferenceId'),
    customerEmail: textOf('customerEmail'),
    customerName: textOf('customerName')?.trim() ?? null,
  };
}
