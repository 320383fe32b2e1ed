import { html } from 'htm/preact';
import { timestamp } from '#lib/clock.ts';
import type { Assets } from '#pages/assets.ts';
import { h } from '#pages/browser/element.ts';
import { pictureAddress } from '#payments/browser/image-address.ts';
import type { Texts } from '#payments/browser/languages/en.ts';
import { subtotalOf } from '../../amounts/price.ts';
import type { FieldError } from '../../model/fault.ts';
import type { PaymentChain, PaymentToken } from '../../model/payment-chain.ts';
import type { Availability, PaymentLink } from '../../model/payment-link.ts';
import type { ContactFacts } from './browser/contact.ts';
import { LinkCheckout, type LinkData } from './browser/link/link-checkout.ts';
import { type Offer, offerName } from './browser/offer.ts';
import { pageText, SCRIPTS } from './document.ts';
import { REFRESH_SECONDS } from './session-page.ts';

/** Data of a link's page. */
export interface LinkView {
  readonly link: PaymentLink;
  readonly chain: PaymentChain;
  readonly token: PaymentToken;
  readonly merchant: ContactFacts & Offer['merchant'];
  readonly availability: Availability;
  /**
   * Earliest time at which a use may be free, while all that are left are reserved: UTC milliseconds, or null if it is not
   * known. Undefined while one is free.
   */
  readonly nextUseAt: number | null | undefined;
  /** From the URL that the payer opened; null when it had none. */
  readonly clientReferenceId: string | null;
}

/** Page of a link: its offer and the form that starts a checkout. */
export function linkPage(
  { assets, texts }: { readonly assets: Assets; readonly texts: Texts },
  view: LinkView,
): string {
  const { link, chain } = view;
  const data = dataOfLink(view);
  return pageText(
    {
      title: `${offerName(data.offer, texts)} · ${data.offer.merchant.name}`,
      texts,
      assets,
      script: SCRIPTS.link,
      themeColor: link.themeColor,
      isTest: chain.mode === 'test',
      merchant: view.merchant,
      refreshSeconds: data.closed?.name === 'reserved' ? REFRESH_SECONDS.open : undefined,
    },
    html`<main class="checkout" data-page=${JSON.stringify(data)}>${h(LinkCheckout, { data })}</main>`,
  );
}

function dataOfLink(view: LinkView): LinkData {
  const { link, chain, token, merchant, clientReferenceId } = view;
  const shared = { token: { symbol: token.symbol, decimals: token.decimals }, chainName: chain.name };
  return {
    shortCode: link.shortCode,
    offer: {
      ...shared,
      merchant: { name: merchant.name, logo_url: pictureAddress(merchant.logo_url) },
      name: link.name,
      description: link.description,
      imageUrl: pictureAddress(link.imageUrl),
      items: link.items.map(item => ({ ...item, image_url: pictureAddress(item.image_url) })),
    },
    terms: {
      ...shared,
      price: textOf(fixedPrice(link)),
      minAmount: textOf(link.minAmount),
      maxAmount: textOf(link.maxAmount),
      suggestedAmount: textOf(link.suggestedAmount),
      fields: link.formSchema?.fields ?? [],
      collectShippingAddress: link.collectShippingAddress,
      shippingOptions: link.shippingOptions,
      buttonText: link.buttonText,
    },
    reference: clientReferenceId,
    closed: closedOf(view),
  };
}

function closedOf({ availability, nextUseAt, merchant: contact }: LinkView): LinkData['closed'] {
  if (availability !== 'active') return { name: availability, nextUseAt: null, contact };
  if (nextUseAt === undefined) return null;
  return {
    name: 'reserved',
    nextUseAt: nextUseAt === null ? null : timestamp(nextUseAt),
    contact,
  };
}

function textOf(amount: bigint | null): string | null {
  return amount === null ? null : amount.toString();
}

/** Price of a link; null when the payer chooses it. */
function fixedPrice(link: PaymentLink): bigint | null {
  const faults: FieldError[] = [];
  const price = subtotalOf(link, undefined, fault => faults.push(fault));
  return faults.length === 0 ? price : null;
}
