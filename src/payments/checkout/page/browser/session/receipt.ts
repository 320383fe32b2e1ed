import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { webAddress } from '#pages/browser/reference.ts';
import type { Texts } from '#payments/browser/languages/en.ts';
import { httpsOnly, transferAddress } from '../offer.ts';
import { amountIn, useTexts } from '../texts.ts';
import type { ShownSession } from './methods.ts';
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
export function Receipt({ view }: { view: ShownSession }): VNode | null {
  const texts = useTexts();
  const { receipt: words } = texts;
  const name = pageState(view);
  const { checkout, state, payerAddress } = view;
  const amount = (units: string) => amountIn(texts, BigInt(units), checkout.token);
  if (!WITH_PAYMENT.includes(name)) return null;
  const { amount_received: received } = state;
  return html`<section class="receipt" aria-labelledby="receipt-title">
    <h2 id="receipt-title">${isReceipt(name) ? words.title : words.before}</h2>
    <dl class="facts">
      ${row(words.paidTo, checkout.merchant.name)}
      ${checkout.name !== null && row(words.for, checkout.name)}
      ${checkout.client_reference_id !== null && row(words.order, checkout.client_reference_id)}
      ${checkout.items.length > 0 && row(words.items, items(checkout.items))}
      ${checkout.shipping_option !== null && row(words.shipping, checkout.shipping_option.name)}
      ${row(isReceipt(name) ? words.amount : words.price, amount(checkout.amount))}
      ${received !== '0' && received !== checkout.amount && row(words.received, amount(received))}
      ${state.amount_overpaid !== '0' && row(words.tooMuch, amount(state.amount_overpaid))}
      ${state.amount_refunded !== '0' && row(words.sentBack, amount(state.amount_refunded))}
      ${row(words.network, checkout.chain.name)}
      ${state.completed_at !== null && row(words.date, h(LocalTime, { iso: state.completed_at }))}
      ${payerAddress !== null && row(words.from, code(payerAddress))}
      ${row(words.to, code(transferAddress(checkout)))}
      ${state.tx_hash !== null && row(words.transaction, transaction(view, state.tx_hash, texts))}
      ${row(words.checkout, code(checkout.id))}
    </dl>
    ${
      isReceipt(name) &&
      html`<div class="actions">
        ${wayBack(view, texts)} ${h(PrintButton, {})}
      </div>`
    }
  </section>`;
}

function items(bought: SessionView['checkout']['items']): VNode[] {
  return bought.map(
    ({ id, name, quantity }) => html`<div key=${id}>${quantity > 1 && `${quantity} × `}${name}</div>`,
  );
}

/** Link to the merchant's success page; null without an https URL. */
function wayBack({ checkout, state }: SessionView, { receipt }: Texts): VNode | null {
  const url = httpsOnly(state.return_url);
  if (url === null) return null;
  const label = checkout.return_label ?? receipt.back(checkout.merchant.name);
  return html`<a class="primary" href=${url} rel="noreferrer">${label}</a>`;
}

function transaction({ checkout }: SessionView, hash: string, { receipt }: Texts): VNode {
  const url = webAddress(checkout.chain.explorer_url);
  if (url === undefined) return code(hash);
  return html`<a href=${url} target="_blank" rel="noopener noreferrer">
    ${code(hash)}<span class="visually-hidden"> ${receipt.newTab}</span>
  </a>`;
}

function row(name: string, value: ComponentChildren): VNode {
  return html`<div class="fact"><dt>${name}</dt><dd>${value}</dd></div>`;
}

function code(value: string): VNode {
  return html`<code>${value}</code>`;
}
