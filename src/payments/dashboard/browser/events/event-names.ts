import type { Tone } from '#pages/browser/layout.ts';
import type { Payments } from '../api.ts';

/** The types of events, how each is coloured and what it says. */
export const EVENT_NAMES: Readonly<Record<Payments['EventType'], readonly [Tone, string]>> = {
  'payment.completed': ['good', 'Payment completed'],
  'payment.failed': ['bad', 'Payment failed'],
  'checkout.completed': ['good', 'Checkout completed'],
  'checkout.expired': ['plain', 'Checkout expired'],
};

/** The session that an event is about. */
export function sessionOf({ data }: Payments['EventRecord']): string {
  return data.checkoutSession.id;
}
