import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { amountText } from '#payments/amounts/token-amount.ts';
import { type Html, html, httpsOnly, type Piece } from './html.ts';

/** What is sold, as links and sessions both tell it. */
export interface Offer {
  readonly merchant: PaymentsSchemas['Merchant'];
  /** Null for a session without a link. */
  readonly name: string | null;
  readonly description: string | null;
  readonly imageUrl: string | null;
  readonly items: readonly PaymentsSchemas['Item'][];
  readonly token: Pick<PaymentsSchemas['CheckoutToken'], 'symbol' | 'decimals'>;
  readonly chainName: string;
  /** In the token's smallest unit; null while the payer has not chosen. */
  readonly total: bigint | null;
  /** Lines below the items: the shipping. */
  readonly extras: readonly { readonly name: string; readonly amount: bigint }[];
}

/** What the payer is about to buy: who sells, what, and for how much. */
export function summary(offer: Offer): Html {
  const { merchant, name, description, imageUrl, token, chainName, total } = offer;
  return html`<section class="summary" aria-labelledby="title">
<p class="merchant">${picture(merchant.logo_url, 'logo', 40)}<span>${merchant.name}</span></p>
<h1 id="title">${offerName(offer)}</h1>
<p class="price">${
    total === null
      ? html`<span class="price-open">You choose the amount</span>`
      : html`<strong id="price">${amountText(total, token)}</strong>`
  } <span class="on-network">on ${chainName}</span></p>
${name !== null && picture(imageUrl, 'product', 640)}
${description !== null && html`<p class="description">${description}</p>`}
${lines(offer)}
</section>`;
}

/** The heading of a checkout. */
export function offerName({ name, merchant }: Pick<Offer, 'name' | 'merchant'>): string {
  return name ?? `Payment to ${merchant.name}`;
}

function lines({ items, extras, token, total }: Offer): Piece {
  if (items.length === 0 && extras.length === 0) return null;
  return html`<ul class="lines">
${items.map(item => line(item, token))}
${extras.map(({ name, amount }) => html`<li><span class="line-name">${name}</span><span class="line-amount" data-shipping>${amountText(amount, token)}</span></li>`)}
${total !== null && html`<li class="line-total"><span class="line-name">Total</span><span class="line-amount" data-total>${amountText(total, token)}</span></li>`}
</ul>`;
}

function line(item: PaymentsSchemas['Item'], token: Offer['token']): Html {
  const { name, description, quantity } = item;
  const amount = BigInt(item.amount);
  return html`<li>${picture(item.image_url, 'item-picture', 44)}<span class="line-name">${name}${
    quantity > 1 && html` <span class="quantity">× ${quantity}</span>`
  }${description !== null && html`<span class="line-description">${description}</span>`}</span><span class="line-amount">${amountText(
    amount * BigInt(quantity),
    token,
  )}</span></li>`;
}

/** Pictures are decoration: their names stand beside them. Only https, as the contract takes them. */
function picture(url: string | null, className: string, size: number): Piece {
  const address = httpsOnly(url);
  if (address === null) return null;
  return html`<img class="${className}" src="${address}" alt="" width="${size}" height="${size}" loading="lazy" decoding="async" referrerpolicy="no-referrer">`;
}
