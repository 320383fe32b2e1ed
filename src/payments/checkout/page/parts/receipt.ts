import { amountText } from '#payments/amounts/token-amount.ts';
import { type Html, html, httpsOnly, type Piece } from './html.ts';
import { pageState, type SessionView } from './states.ts';

const WITH_PAYMENT: readonly string[] = ['completed', 'dropped', 'late', 'confirming', 'sent'];

/** What was paid, to keep or to print; before completion only what is known of the transaction. */
export function receipt(view: SessionView): Piece {
  const name = pageState(view);
  const { checkout, state } = view;
  if (!WITH_PAYMENT.includes(name)) return null;
  const isReceipt = name === 'completed';
  return html`<section class="receipt" aria-labelledby="receipt-title">
<h2 id="receipt-title">${isReceipt ? 'Receipt' : 'Your payment'}</h2>
<dl class="facts">
${row('Paid to', checkout.merchant.name)}
${checkout.name !== null && row('For', checkout.name)}
${row(isReceipt ? 'Amount' : 'Price', amountText(BigInt(checkout.amount), checkout.token))}
${state.amount_received !== '0' && state.amount_received !== checkout.amount && row('Received', amountText(BigInt(state.amount_received), checkout.token))}
${row('Network', checkout.chain.name)}
${state.completed_at !== null && row('Date', momentText(state.completed_at))}
${state.payer_address !== null && row('From', code(state.payer_address))}
${row('To', code(checkout.recipient_address))}
${state.tx_hash !== null && row('Transaction', transaction(view, state.tx_hash))}
${row('Checkout', code(checkout.id))}
</dl>
${isReceipt && html`<div class="actions">${wayBack(view)}<button type="button" class="secondary" id="print" hidden>Print receipt</button></div>`}
</section>`;
}

/** Where the merchant wants the payer to go on; the address comes from the record and is https. */
function wayBack({ checkout, state }: SessionView): Piece {
  const url = httpsOnly(state.return_url);
  if (url === null) return null;
  const label = checkout.return_label ?? `Back to ${checkout.merchant.name}`;
  return html`<a class="primary" href="${url}" rel="noreferrer">${label}</a>`;
}

function transaction({ checkout }: SessionView, hash: string): Piece {
  const { explorer_url: url } = checkout.chain;
  if (url === null) return code(hash);
  return html`<a href="${url}" target="_blank" rel="noopener noreferrer">${code(hash)}<span class="visually-hidden"> (opens the explorer in a new tab)</span></a>`;
}

function row(name: string, value: Piece): Piece {
  return html`<div class="fact"><dt>${name}</dt><dd>${value}</dd></div>`;
}

function code(value: string): Piece {
  return html`<code>${value}</code>`;
}

const FORMAT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** A time in words. The script writes it anew in the payer's own zone. */
export function momentText(iso: string): Html {
  return html`<time datetime="${iso}" data-moment>${FORMAT.format(new Date(iso))} UTC</time>`;
}
