import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { components } from '#generated/payments/types.ts';
import type { Denomination } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { pictureAddress } from '#payments/browser/image-address.ts';
import type { Texts } from '#payments/browser/languages/en.ts';
import { amountIn, useTexts } from './texts.ts';

type Item = components['schemas']['Item'];

/** An offer of a link, a session or a draft of a link. Amounts are decimal strings in the token's smallest unit. */
export interface Offer {
  readonly merchant: Pick<components['schemas']['Merchant'], 'name' | 'logo_url'>;
  /** Null for a session without a link. */
  readonly name: string | null;
  readonly description: string | null;
  readonly imageUrl: string | null;
  readonly items: readonly Item[];
  readonly token: Denomination;
  readonly chainName: string;
  /** Null until the payer has chosen the amount. */
  readonly total: string | null;
  /** Lines below the items: the shipping. */
  readonly extras: readonly { readonly name: string; readonly amount: string }[];
}

/** Summary of an offer: merchant, product and price. */
export function OfferSummary({ offer }: { offer: Offer }): VNode {
  const texts = useTexts();
  const { merchant, name, description, imageUrl, token, chainName, total } = offer;
  return html`<section class="summary" aria-labelledby="title">
    <p class="merchant">${h(Picture, { url: merchant.logo_url, className: 'logo', size: 40 })}<span>${merchant.name}</span></p>
    <h1 id="title">${offerName(offer, texts)}</h1>
    <p class="price">
      ${
        total === null
          ? html`<span class="price-open">${texts.offer.open}</span>`
          : html`<strong id="price">${amountIn(texts, BigInt(total), token)}</strong>`
      } <span class="on-network">${texts.offer.network(chainName)}</span>
    </p>
    ${name !== null && h(Picture, { url: imageUrl, className: 'product', size: 640 })}
    ${description !== null && html`<p class="description">${description}</p>`}
    ${lines(offer, texts)}
  </section>`;
}

/** Heading of a checkout. */
export function offerName(
  { name, merchant }: Pick<Offer, 'name' | 'merchant'>,
  { offer }: Pick<Texts, 'offer'>,
): string {
  return name ?? offer.paymentTo(merchant.name);
}

/** Address to which the payer of a checkout sends the money: that of this checkout alone, or the merchant's. */
export function transferAddress({
  deposit_address: deposit,
  recipient_address: recipient,
}: Pick<components['schemas']['Checkout'], 'deposit_address' | 'recipient_address'>): string {
  return deposit ?? recipient;
}

/**
 * A merchant's URL if it is https, else null. The contract accepts no other; this covers records from other sources
 * too.
 */
export function httpsOnly(url: string | null): string | null {
  return url !== null && /^https:\/\//i.test(url) ? url : null;
}

function lines({ items, extras, token, total }: Offer, texts: Texts): VNode | null {
  if (items.length === 0 && extras.length === 0) return null;
  return html`<ul class="lines">
    ${items.map(item => line(item, token, texts))}
    ${extras.map(
      ({ name, amount }) => html`<li>
        <span class="line-name">${name}</span>
        <span class="line-amount">${amountIn(texts, BigInt(amount), token)}</span>
      </li>`,
    )}
    ${
      total !== null &&
      html`<li class="line-total">
        <span class="line-name">${texts.offer.total}</span>
        <span class="line-amount">${amountIn(texts, BigInt(total), token)}</span>
      </li>`
    }
  </ul>`;
}

function line(
  { image_url: image, name, description, quantity, amount }: Item,
  token: Denomination,
  texts: Texts,
): VNode {
  return html`<li>
    ${h(Picture, { url: image, className: 'item-picture', size: 44 })}
    <span class="line-name">
      ${name}${quantity > 1 && html` <span class="quantity">× ${quantity}</span>`}
      ${description !== null && html`<span class="line-description">${description}</span>`}
    </span>
    <span class="line-amount">${amountIn(texts, BigInt(amount) * BigInt(quantity), token)}</span>
  </li>`;
}

interface PictureProps {
  readonly url: string | null;
  readonly className: string;
  readonly size: number;
}

/** An image. It is decoration: its name is next to it as text. One that cannot be loaded leaves no gap. */
function Picture({ url, className, size }: PictureProps): VNode | null {
  const image = useRef<HTMLImageElement>(null);
  const [isBroken, setBroken] = useState(false);
  useEffect(() => {
    // It may have failed before this script ran.
    if (image.current?.complete && image.current.naturalWidth === 0) setBroken(true);
  }, [url]);
  const address = pictureAddress(url);
  if (address === null || isBroken) return null;
  return html`<img
    class=${className}
    src=${address}
    alt=""
    width=${size}
    height=${size}
    loading="lazy"
    decoding="async"
    referrerpolicy="no-referrer"
    ref=${image}
    onError=${() => setBroken(true)}
  />`;
}
