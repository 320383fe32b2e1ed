import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { Badge, type Tone } from '#pages/browser/layout.ts';
import type { Payments } from './api.ts';

type Checkout = Pick<Payments['CheckoutSession'], 'status' | 'payment_status' | 'is_reorged'>;

/** Status of a checkout: the state of its payment while open, else its outcome. */
export function CheckoutStatus({ session }: { session: Checkout }): VNode {
  const [tone, text] = stateOf(session);
  return h(Badge, { tone, children: text });
}

function stateOf({ status, payment_status, is_reorged }: Checkout): readonly [Tone, string] {
  if (is_reorged) return ['bad', 'Dropped by the chain'];
  if (status === 'completed') return ['good', 'Completed'];
  if (payment_status === 'confirming') return ['busy', 'Confirming'];
  if (status === 'active') return OPEN[payment_status];
  return EXPIRED[payment_status];
}

const OPEN: Readonly<Record<Payments['PaymentStatus'], readonly [Tone, string]>> = {
  awaiting_payment: ['busy', 'Open'],
  confirming: ['busy', 'Confirming'],
  underpaid: ['warning', 'Underpaid'],
  failed: ['bad', 'Open, payment failed'],
  paid: ['good', 'Paid'],
};

const EXPIRED: typeof OPEN = {
  awaiting_payment: ['plain', 'Expired'],
  confirming: OPEN.confirming,
  underpaid: ['warning', 'Expired, underpaid'],
  failed: ['plain', 'Expired, payment failed'],
  paid: ['warning', 'Paid late'],
};

const TRANSACTIONS: Readonly<Record<Payments['TransactionStatus'], readonly [Tone, string]>> = {
  pending: ['busy', 'Pending'],
  confirming: ['busy', 'Confirming'],
  completed: ['good', 'Completed'],
  failed: ['bad', 'Failed'],
};

/** Status of a transfer. */
export function TransactionStatus({ status }: { status: Payments['TransactionStatus'] }): VNode {
  const [tone, text] = TRANSACTIONS[status];
  return h(Badge, { tone, children: text });
}
