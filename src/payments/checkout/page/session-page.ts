import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import type { Assets } from '#pages/assets.ts';
import { unitsText } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { webAddress } from '#pages/browser/reference.ts';
import type { CheckoutFacts } from './browser/api.ts';
import { httpsOnly, type Offer, OfferSummary, offerName } from './browser/offer.ts';
import { pageText } from './document.ts';
import { methods } from './parts/methods.ts';
import { isPayable, type PageState, pageState, type SessionView, statusPanel } from './parts/states.ts';

/** Seconds after which a browser without scripts reloads a page that may still change. */
const REFRESH_SECONDS = 20;
const FINAL: readonly PageState[] = ['completed', 'dropped', 'expired'];
const TITLES: Partial<Readonly<Record<PageState, string>>> = {
  sent: 'On its way',
  confirming: 'Confirming',
  underpaid: 'Not paid in full',
  failed: 'Failed',
  completed: 'Paid',
  expired: 'Expired',
};

/**
 * Page of a checkout: the offer, the ways to pay, the progress of the payment, and finally the receipt. To update the
 * parts with `data-live`, the script loads the page again, so all texts come from the server.
 */
export function sessionPage(assets: Assets, view: SessionView): string {
  const { checkout, state } = view;
  const name = pageState(view);
  const offer = offerOf(view);
  const title = `${offerName(offer)} · ${checkout.merchant.name}`;
  const known = TITLES[name];
  return pageText(
    {
      title: known === undefined ? title : `${known} · ${title}`,
      assets,
      themeColor: checkout.theme_color,
      isTest: checkout.chain.is_testnet,
      refreshSeconds: FINAL.includes(name) ? undefined : REFRESH_SECONDS,
    },
    html`<main class="checkout" data-page="session" data-checkout=${forScript(view)}>
      ${h(OfferSummary, { offer })}
      <section class="payment" id="payment" aria-label="Payment" tabindex="-1">
        <div id="status" role="status" aria-live="polite" data-live="" data-state=${JSON.stringify(state)}>
          ${statusPanel(view)}${delayNotice(view)}
        </div>
        <div id="time" data-live="">${countdown(view)}</div>
        <div id="methods" data-live="">${methods(view)}</div>
        <div id="receipt" data-live="">${receipt(view)}</div>
        <div id="leave" data-live="">${wayOut(view)}</div>
        <p class="hint" id="connection" role="status"></p>
        <p class="visually-hidden" id="spoken" role="status"></p>
      </section>
    </main>`,
  );
}

function offerOf({ checkout }: SessionView): Offer {
  const { merchant, name, description, items, token, chain, shipping_option: shipping } = checkout;
  return {
    merchant,
    name,
    description,
    imageUrl: checkout.image_url,
    items,
    token,
    chainName: chain.name,
    total: BigInt(checkout.amount),
    extras: shipping === null ? [] : [{ name: shipping.name, amount: BigInt(shipping.amount) }],
  };
}

/** Facts that the script needs for a wallet, as JSON in an attribute. */
function forScript({ checkout }: SessionView): string {
  const { id, chain, token, recipient_address } = checkout;
  const facts: CheckoutFacts = {
    id,
    chain: { id: chain.id, name: chain.name },
    token,
    recipient_address,
  };
  return JSON.stringify(facts);
}

function countdown(view: SessionView): VNode | null {
  const name = pageState(view);
  if (!isPayable(name) || name === 'sent') return null;
  const { expires_at: end } = view.state;
  const leftMs = Date.parse(end) - view.now;
  return html`<p class="countdown">
    <span>Pay before ${momentText(end)}</span>
    <span class="left" id="left" role="timer" aria-live="off" aria-label="Time left" data-left-ms=${leftMs}></span>
  </p>`;
}

/** Notice that payments on the chain are detected late (Decision 131). */
function delayNotice(view: SessionView): VNode | null {
  if (!view.state.is_chain_late || FINAL.includes(pageState(view))) return null;
  return html`<p class="hint">Payments on ${view.checkout.chain.name} are detected with a delay. A payment that was sent is not lost: please do not send it again.</p>`;
}

function wayOut(view: SessionView): VNode | null {
  const { cancel_url: given, merchant } = view.checkout;
  const url = httpsOnly(given);
  const name = pageState(view);
  if (url === null || name === 'completed') return null;
  const isGivingUp = isPayable(name) && name !== 'sent';
  return html`<p class="leave"><a href=${url} rel="noreferrer">${isGivingUp ? 'Cancel and go' : 'Go'} back to ${merchant.name}</a></p>`;
}

const WITH_PAYMENT: readonly string[] = ['completed', 'dropped', 'late', 'confirming', 'sent'];

/** The receipt, to keep or to print. Before completion it shows what is known of the transaction. */
function receipt(view: SessionView): VNode | null {
  const name = pageState(view);
  const { checkout, state } = view;
  if (!WITH_PAYMENT.includes(name)) return null;
  const isReceipt = name === 'completed';
  const { amount_received: received } = state;
  return html`<section class="receipt" aria-labelledby="receipt-title">
    <h2 id="receipt-title">${isReceipt ? 'Receipt' : 'Your payment'}</h2>
    <dl class="facts">
      ${row('Paid to', checkout.merchant.name)}
      ${checkout.name !== null && row('For', checkout.name)}
      ${row(isReceipt ? 'Amount' : 'Price', unitsText(BigInt(checkout.amount), checkout.token))}
      ${received !== '0' && received !== checkout.amount && row('Received', unitsText(BigInt(received), checkout.token))}
      ${row('Network', checkout.chain.name)}
      ${state.completed_at !== null && row('Date', momentText(state.completed_at))}
      ${state.payer_address !== null && row('From', code(state.payer_address))}
      ${row('To', code(checkout.recipient_address))}
      ${state.tx_hash !== null && row('Transaction', transaction(view, state.tx_hash))}
      ${row('Checkout', code(checkout.id))}
    </dl>
    ${
      isReceipt &&
      html`<div class="actions">
        ${wayBack(view)}
        <button type="button" class="secondary" id="print" hidden>Print receipt</button>
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

const FORMAT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** A time in words. The script replaces it by the time in the payer's time zone. */
function momentText(iso: string): VNode {
  return html`<time datetime=${iso} data-moment="">${FORMAT.format(new Date(iso))} UTC</time>`;
}
