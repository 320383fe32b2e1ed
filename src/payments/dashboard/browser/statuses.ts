import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { Badge, type Tone } from '#pages/browser/layout.ts';
import { type MerchantFacts, merchantWords } from '#payments/browser/outcome-words.ts';
import type { Payments } from './api.ts';

/** Outcome of a checkout as a badge. */
export function CheckoutStatus({ session }: { session: MerchantFacts }): VNode {
  const { tone, badge } = merchantWords(session);
  return h(Badge, { tone, children: badge });
}

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
