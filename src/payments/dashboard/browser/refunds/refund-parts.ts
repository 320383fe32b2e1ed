import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { Badge, type Tone } from '#pages/browser/layout.ts';
import { leftTooMuch } from '#payments/browser/outcome-words.ts';
import { dashboard } from '../addresses.ts';
import type { Payments } from '../api.ts';
import { useHasPermission } from '../signed-in.ts';

type Refund = Payments['Refund'];

/** Statuses by which refunds are filtered, with their names. */
export const REFUND_STATUSES = [
  ['requires_action', 'To be sent'],
  ['pending', 'Confirming'],
  ['completed', 'Completed'],
  ['cancelled', 'Cancelled'],
] as const;

const TONES: Readonly<Record<Refund['status'], Tone>> = {
  requires_action: 'warning',
  pending: 'busy',
  completed: 'good',
  cancelled: 'plain',
};

/** Status of a refund. */
export function RefundStatus({ refund: { status, failure_reason } }: { refund: Refund }): VNode {
  const [, text] = REFUND_STATUSES.find(([one]) => one === status) ?? [];
  return h(Badge, { tone: TONES[status], children: failure_reason === 'expired' ? 'Expired' : text });
}

/** Sources of destinations in words. */
export const DESTINATION_SOURCES: Readonly<Record<Refund['destination_source'], string>> = {
  signed_wallet: 'Wallet that signed for the checkout',
  payer_signature: 'Stated by the payer, signed by the sending wallet',
  payer_email: 'Stated by the payer, through a link mailed to the payer’s address',
  payer: 'Stated by the payer, not proved',
  merchant: 'Typed by you, not proved',
  sender: 'Sender of the transfer, not proved',
};

/** Links to a new refund of money that arrived, and to the refunds of a checkout. */
export function RefundLinks({ session }: { session: Payments['CheckoutSession'] }): VNode | null {
  const mayWrite = useHasPermission('write');
  const { id, amount_received: received, amount_refunded: refunded } = session;
  if (BigInt(received) === 0n) return null;
  const left = leftTooMuch(session);
  const money = { session_id: id, ...(left > 0n && { amount: left.toString() }) };
  return html`<div class="row">
    ${mayWrite && BigInt(received) > BigInt(refunded) && html`<a class="button" href=${dashboard.newRefund(money)}>Refund</a>`}
    <a href=${`${dashboard.refunds}?${new URLSearchParams({ session_id: id })}`}>Refunds of this payment</a>
  </div>`;
}
