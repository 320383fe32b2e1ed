import { amountText } from '../amounts/token-amount.ts';
import type { EventData } from '../model/event.ts';
import type { Mode } from '../model/owner.ts';
import { type PaymentChain, tokenOf } from '../model/payment-chain.ts';

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
}

/** The merchant whose payments are reported. */
export interface Merchant {
  /** The organization's name. */
  readonly name: string;
  readonly mode: Mode;
}

/** A fact of a notice; null for one that is not known. */
export type Fact = [label: string, value: string | null];

/** The facts that are known. */
export function given(facts: readonly Fact[]): (readonly [label: string, value: string])[] {
  return facts.flatMap(([label, value]) => (value === null ? [] : [[label, value] as const]));
}

/** The exact amount in tokens. In smallest units for a token that is no longer configured. */
export function shownAmount(
  units: string,
  { token_address }: { readonly token_address: string },
  chain: PaymentChain | undefined,
): string {
  const token = chain && tokenOf(chain, token_address);
  return token === undefined ? `${units} units of ${token_address}` : amountText(BigInt(units), token);
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
