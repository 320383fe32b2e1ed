import type { Tone } from '#pages/browser/layout.ts';
import type { Payments } from '../api.ts';

/** Colour and text of each event type. */
export const EVENT_NAMES: Readonly<Record<Payments['EventType'], readonly [Tone, string]>> = {
  'payment.completed': ['good', 'Payment completed'],
  'payment.failed': ['bad', 'Payment failed'],
  'checkout.completed': ['good', 'Checkout completed'],
  'checkout.expired': ['plain', 'Checkout expired'],
  'refund.created': ['plain', 'Refund created'],
  'refund.completed': ['good', 'Refund completed'],
  'refund.failed': ['bad', 'Refund failed'],
  'transfer.unmatched': ['warning', 'Unmatched transfer'],
  'checkout.paid_late': ['warning', 'Paid late'],
  'checkout.overpaid': ['warning', 'Overpaid'],
  'checkout.partially_paid': ['warning', 'Ended paid in part'],
  'sweep.completed': ['good', 'Deposit address swept'],
};

/** Id of the checkout session that an event is about; undefined when it is about an unmatched transfer. */
export function sessionOf({ data }: Payments['EventRecord']): string | undefined {
  return data.checkoutSession?.id;
}
