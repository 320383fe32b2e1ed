import { getAddress } from 'viem';
import { amountText } from '../amounts/token-amount.ts';
import type { EventData } from '../model/event.ts';
import { type Outcome, outcomeOf } from '../model/outcome.ts';
import type { Contact, Mode } from '../model/owner.ts';
import { type PaymentChains, tokenOf } from '../model/payment-chain.ts';
import { bpsOf, leastSum } from '../model/session.ts';
import type { NoticeOrder } from './store/notice-order.ts';

/** Content of a mail or message. Texts of merchants and payers are in it unescaped. */
export interface Content {
  readonly title: string;
  /** Labels and values, in display order. */
  readonly facts: readonly (readonly [label: string, value: string])[];
  /** Sentences below the facts. */
  readonly closing: string;
  /** Page to open, and its name in a mail. */
  readonly link: string | undefined;
  readonly linkText?: string;
  /** Address for answers to a mail; none when absent. */
  readonly replyTo?: string | undefined;
  /** Language of a mail, and the direction in which it is written; English when absent. */
  readonly language?: { readonly code: string; readonly direction: 'ltr' | 'rtl' } | undefined;
}

/** The merchant whose payments are reported. */
export interface Merchant {
  /** The organization's name. */
  readonly name: string;
  readonly mode: Mode;
  /** Ways for payers to reach the organization; absent in notices for the organization itself. */
  readonly contact?: Contact;
}

/** Configuration that texts need. */
export interface TextContext {
  readonly chains: PaymentChains;
  /** Base URL of the dashboard, without a slash at the end. Without it, texts name no page. */
  readonly publicUrl?: string | undefined;
  /** Order of the session in question; absent for several sessions or none. */
  readonly order?:
    | (Pick<NoticeOrder, 'formLabels' | 'language' | 'items'> & Partial<NoticeOrder>)
    | undefined;
}

/** Address of a page of the dashboard, such as `payments/cs_1`. */
export function dashboardPage({ publicUrl }: TextContext, page: string): string | undefined {
  return publicUrl === undefined ? undefined : `${publicUrl}/dashboard/${page}`;
}

/** A fact of a notice; null for one that is not known. */
export type Fact = [label: string, value: string | null];

/** An address with its checksum, which people compare with their own; null for one that is not known. */
export function addressText(address: string | null | undefined): string | null {
  return address ? getAddress(address) : null;
}

/** The facts that are known. A notice that an older version recorded lacks some fields. */
export function given(facts: readonly Fact[]): (readonly [label: string, value: string])[] {
  return facts.flatMap(([label, value]) => (value ? [[label, value] as const] : []));
}

/** Words for the chain and the exact amounts of an event, also when chain or token is no longer configured. */
export function chainWords(
  { chain_id: chainId, token_address: address }: Pick<EventData, 'chain_id' | 'token_address'>,
  { chains }: TextContext,
) {
  const chain = chains.all.find(({ id }) => id === chainId);
  const token = chain && tokenOf(chain, address);
  return {
    chain,
    chainName: chain?.name ?? `chain ${chainId}`,
    /** An amount in tokens, or in smallest units of a token that is not configured. */
    amountOf: (units: bigint | string) =>
      token === undefined ? `${units} units of ${address}` : amountText(BigInt(units), token),
  };
}

/** Facts about the order: its payer, reference, answers and address. */
export function orderFacts(
  {
    form_data: answers,
    checkoutSession: session,
  }: Pick<EventData<'payment.completed'>, 'form_data' | 'checkoutSession'>,
  { order }: TextContext,
): Fact[] {
  const { email: _, shipping_address: address, ...own } = answers;
  return [
    ['Customer', customer(session)],
    ['Reference', session.clientReferenceId],
    ...Object.entries(own).map(
      ([key, answer]): Fact => [`Answer: ${order?.formLabels?.[key] ?? key}`, String(answer)],
    ),
    ['Ship to', address === undefined ? null : Object.values(address).filter(Boolean).join(', ')],
  ];
}

/**
 * Outcome that an event reports of a session that was paid late, too much or in part. The session may have changed since,
 * for example by a transfer that is being confirmed.
 */
export function reportedOutcome(data: EventData<'checkout.paid_late'>): Outcome {
  const price = { amount: BigInt(data.amount), toleranceBps: bpsOf(data.payment_tolerance) };
  return outcomeOf({
    status: data.status,
    paymentStatus: BigInt(data.amount_received) < leastSum(price) ? 'underpaid' : 'paid',
    amountOverpaid: BigInt(data.overpaid_amount ?? 0),
    isReorged: false,
    failureReason: null,
    endedReason: data.ended_reason,
  });
}

/** Name and e-mail address of the payer. */
export function customer({
  customerName,
  customerEmail,
}: EventData<'payment.completed'>['checkoutSession']): string | null {
  if (customerName === null) return customerEmail;
  return customerEmail === null ? customerName : `${customerName}, ${customerEmail}`;
}

/** A title, which says so for test mode. */
export function titled(title: string, { mode }: Merchant): string {
  return mode === 'test' ? `[Test] ${title}` : title;
}
