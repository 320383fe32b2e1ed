import type { Assets } from '#pages/assets.ts';
import { subtotalOf } from '../../amounts/price.ts';
import { amountText, tokenAmount } from '../../amounts/token-amount.ts';
import type { FieldError } from '../../model/fault.ts';
import type { PaymentChain, PaymentToken } from '../../model/payment-chain.ts';
import type { Availability, PaymentLink } from '../../model/payment-link.ts';
import { pageText } from './document.ts';
import { addressFields, amountField, formFields, shippingFields } from './parts/fields.ts';
import { type Html, html, type Piece } from './parts/html.ts';
import { type Offer, offerName, summary } from './parts/summary.ts';

/** What the page of a link is made from. */
export interface LinkView {
  readonly link: PaymentLink;
  readonly chain: PaymentChain;
  readonly token: PaymentToken;
  readonly merchant: Offer['merchant'];
  readonly availability: Availability;
  /** From the address that the payer followed; null when it had none. */
  readonly clientReferenceId: string | null;
}

const CLOSED: Readonly<Record<Exclude<Availability, 'active'>, { title: string; text: string }>> = {
  inactive: {
    title: 'Not for sale at the moment',
    text: 'The merchant has switched this payment link off. Please ask them about it.',
  },
  used_up: {
    title: 'Sold out',
    text: 'This payment link has been used as often as it can be. Please ask the merchant for another one.',
  },
  expired: {
    title: 'This payment link has expired',
    text: 'It was valid for a limited time. Please ask the merchant for another one.',
  },
};

/** What is offered through a link, and the form that starts a checkout of it. */
export function linkPage(assets: Assets, view: LinkView): string {
  const { link, chain, token, availability } = view;
  const price = fixedPrice(link);
  // The first way of shipping is chosen already.
  const shipping = BigInt(link.shippingOptions[0]?.amount ?? 0);
  const offer: Offer = {
    merchant: view.merchant,
    name: link.name,
    description: link.description,
    imageUrl: link.imageUrl,
    items: link.items,
    token,
    chainName: chain.name,
    total: price === null ? null : price + shipping,
    extras: link.shippingOptions.length === 0 ? [] : [{ name: 'Shipping', amount: shipping }],
  };
  return pageText(
    {
      title: `${offerName(offer)} · ${offer.merchant.name}`,
      assets,
      themeColor: link.themeColor,
      isTest: chain.mode === 'test',
    },
    html`<main class="checkout" data-page="link">
${summary(offer)}
<section class="payment" id="payment" aria-label="Payment" tabindex="-1">
${availability === 'active' ? startForm(view, price, shipping) : closed(availability)}
</section>
</main>`,
  );
}

function startForm(
  { link, chain, token, clientReferenceId }: LinkView,
  price: bigint | null,
  shipping: bigint,
): Html {
  const { symbol, decimals } = token;
  return html`<form id="start" method="post" data-short-code="${link.shortCode}" data-symbol="${symbol}" data-decimals="${decimals}"${
    price !== null && html` data-price="${price}"`
  }>
${clientReferenceId !== null && html`<input type="hidden" name="clientReferenceId" value="${clientReferenceId}">`}
${
  price === null &&
  amountField(token, {
    hint: boundsText(link, token),
    suggested: suggestion(link, decimals),
    least: link.minAmount ?? 1n,
    most: link.maxAmount,
  })
}
${formFields(link.formSchema?.fields ?? [])}
${link.collectShippingAddress && addressFields()}
${shippingFields(link.shippingOptions, token)}
<p class="error" id="form-error" role="alert" hidden></p>
<noscript><p class="note">To begin, please allow scripts on this page. They come from this site only.</p></noscript>
<button class="primary" type="submit" disabled><span>${link.buttonText}</span> <span class="button-amount" id="total">${
    price !== null && amountText(price + shipping, token)
  }</span></button>
<p class="hint">You pay in ${symbol} on ${chain.name}, from any wallet. Nothing is charged yet.</p>
</form>`;
}

function closed(availability: Exclude<Availability, 'active'>): Piece {
  const { title, text } = CLOSED[availability];
  return html`<div class="status-panel calm" role="status" data-state-name="${availability}"><div><h2>${title}</h2><p>${text}</p></div></div>`;
}

/** Null when the payer chooses. */
function fixedPrice(link: PaymentLink): bigint | null {
  const faults: FieldError[] = [];
  const price = subtotalOf(link, undefined, fault => faults.push(fault));
  return faults.length === 0 ? price : null;
}

function suggestion({ suggestedAmount }: PaymentLink, decimals: number): string | undefined {
  return suggestedAmount === null ? undefined : tokenAmount(suggestedAmount, decimals);
}

function boundsText(
  { minAmount, maxAmount }: PaymentLink,
  token: { symbol: string; decimals: number },
): string | undefined {
  const [least, most] = [minAmount, maxAmount].map(bound => (bound === null ? '' : amountText(bound, token)));
  if (minAmount !== null && maxAmount !== null) return `From ${least} to ${most}`;
  if (minAmount !== null) return `At least ${least}`;
  return maxAmount === null ? undefined : `At most ${most}`;
}
