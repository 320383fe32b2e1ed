import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { unitsText } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { webAddress } from '#pages/browser/reference.ts';
import { httpsOnly, transferAddress } from '../offer.ts';
import { LocalTime, PrintButton } from './payer-parts.ts';
import { type PageState, pageState, type SessionView } from './states.ts';

/** States in which the page shows what is known of the payment. */
const WITH_PAYMENT: readonly PageState[] = [
  'sent',
  'confirming',
  'paid',
  'overpaid',
  'paid_late',
  'paid_sold_out',
  'paid_unproven',
  'dropped',
];

/** True when the checkout is paid, so that its page is a receipt. */
export function isReceipt(name: PageState): boolean {
  return name === 'paid' || name === 'overpaid';
}

/** The receipt, to keep or to print. Before completion it shows what is known of the transaction. */
export function Receipt({ view }: { view: SessionView }): VNode | null {
  const name = pageState(view);
  const { checkout, state } = view;
  if (!WITH_PAYMENT.includes(name)) return null;
  const { amount_received: received } = state;
  return html`<section class="receipt" aria-labelledby="receipt-title">
    <h2 id="receipt-title">${isReceipt(name) ? 'Receipt' : 'Your payment'}</h2>
    <dl class="facts">
      ${row('Paid to', checkout.merchant.name)}
      ${checkout.name !== null && row('For', checkout.name)}
      ${row(isReceipt(name) ? 'Amount' : 'Price', unitsText(BigInt(checkout.amount), checkout.token))}
      ${received !== '0' && received !== checkout.amount && row('Received', unitsText(BigInt(received), checkout.token))}
      ${state.amount_overpaid !== '0' && row('Too much', unitsText(BigInt(state.amount_overpaid), checkout.token))}
      ${state.amount_refunded !== '0' && row('Sent back', unitsText(BigInt(state.amount_refunded), checkout.token))}
      ${row('Network', checkout.chain.name)}
      ${state.completed_at !== null && row('Date', h(LocalTime, { iso: state.completed_at }))}
      ${state.payer_address !== null && row('From', code(state.payer_address))}
      ${row('To', code(transferAddress(checkout)))}
      ${state.tx_hash !== null && row('Transaction', transaction(view, state.tx_hash))}
      ${row('Checkout', code(checkout.id))}
    </dl>
    ${
      isReceipt(name) &&
      html`<div class="actions">
        ${wayBack(view)} ${h(PrintButton, {})}
      </div>`
    }
  </section>`;
}

/** Link to the merchant's success page; null without an https URL. */
function wayBack({ checkout, state }: SessionView): VNode | null {
  const url = httpsOnly(state.return_url);
  if (url === null) return null;
  const label = checkout.return_label ?? `Back to ${checkout.merchant.name}`;
  return html`<a class="primary" href=${url} rel="noreferrer">${label}</a>`;
}

function transaction({ checkout }: SessionView, hash: string): VNode {
  const url = webAddress(checkout.chain.explorer_url);
  if (url === undefined) return code(hash);
  return html`<a href=${url} target="_blank" rel="noopener noreferrer">
    ${code(hash)}<span class="visually-hidden"> (opens the explorer in a new tab)</span>
  </a>`;
}

function row(name: string, value: ComponentChildren): VNode {
  return html`<div class="fact"><dt>${name}</dt><dd>${value}</dd></div>`;
}

function code(value: string): VNode {
  return html`<code>${value}</code>`;
}
