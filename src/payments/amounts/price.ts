import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { missing, type ReportFault, wrong } from '../model/fault.ts';
import type { PaymentLink } from '../model/payment-link.ts';
import { LARGEST_AMOUNT } from './token-amount.ts';

type Shipping = PaymentsSchemas['ShippingOption'];

/**
 * The price of a link without shipping: its amount, the sum of its items, or the payer's choice within its bounds
 * (Decision 108). In the token's smallest unit; 0 after a report.
 */
export function subtotalOf(link: PaymentLink, chosen: string | undefined, report: ReportFault): bigint {
  const fixed = link.amount ?? sumOf(link.items);
  if (fixed !== undefined) {
    if (chosen !== undefined) report(wrong('amount', 'must be left out: the payment link has a price'));
    return fixed;
  }
  if (chosen === undefined) {
    report(missing('amount'));
    return 0n;
  }
  const amount = BigInt(chosen);
  if (link.minAmount !== null && amount < link.minAmount)
    report(wrong('amount', `must be at least ${link.minAmount}`));
  if (link.maxAmount !== null && amount > link.maxAmount)
    report(wrong('amount', `must be at most ${link.maxAmount}`));
  return amount;
}

/** The chosen shipping option; null when the link has none, and after a report. */
export function shippingOptionOf(
  options: readonly Shipping[],
  chosen: string | null | undefined,
  report: ReportFault,
): Shipping | null {
  if (chosen === undefined || chosen === null) {
    if (options.length > 0) report(missing('shipping_option_id'));
    return null;
  }
  const option = options.find(({ id }) => id === chosen);
  if (option === undefined)
    report(wrong('shipping_option_id', 'must be one of the shipping options of the payment link'));
  return option ?? null;
}

/** The price with shipping. Reports a total above the largest amount, 2^256 - 1 (Decision 97). */
export function totalOf(subtotal: bigint, shipping: Shipping | null, report: ReportFault): bigint {
  const total = subtotal + BigInt(shipping?.amount ?? 0);
  if (total > LARGEST_AMOUNT) report(wrong('amount', 'must stay below 2^256 together with the shipping'));
  return total;
}

function sumOf(items: PaymentLink['items']): bigint | undefined {
  if (items.length === 0) return undefined;
  return items.reduce((sum, { amount, quantity }) => sum + BigInt(amount) * BigInt(quantity), 0n);
}
