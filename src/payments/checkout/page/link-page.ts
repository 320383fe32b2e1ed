import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { Assets } from '#pages/assets.ts';
import { h } from '#pages/browser/element.ts';
import { subtotalOf } from '../../amounts/price.ts';
import type { FieldError } from '../../model/fault.ts';
import type { PaymentChain, PaymentToken } from '../../model/payment-chain.ts';
import type { Availability, PaymentLink } from '../../model/payment-link.ts';
import { type Offer, OfferSummary, offerName } from './browser/offer.ts';
import { firstShipping, StartForm, type StartTerms } from './browser/start-form.ts';
import { pageText } from './document.ts';

/** Data of a link's page. */
export interface LinkView {
  readonly link: PaymentLink;
  readonly chain: PaymentChain;
  readonly token: PaymentToken;
  readonly merchant: Offer['merchant'];
  readonly availability: Availability;
  /** From the URL that the payer opened; null when it had none. */
  readonly clientReferenceId: string | null;
}

const CLOSED: Readonly<Record<Exclude<Availability, 'active'>, { title: string; text: string }>> = {
  inactive: {
    title: 'This payment link is not active',
    text: 'The merchant has deactivated it. Please contact them.',
  },
  used_up: {
    title: 'Sold out',
    text: 'This payment link has reached its maximum number of uses. Please contact the merchant.',
  },
  expired: {
    title: 'This payment link has expired',
    text: 'It was valid for a limited time. Please contact the merchant.',
  },
};

/** Page of a link: its offer and the form that starts a checkout. */
export function linkPage(assets: Assets, view: LinkView): string {
  const { link, chain, availability, clientReferenceId } = view;
  const price = fixedPrice(link);
  const offer = offerOf(view, price);
  return pageText(
    {
      title: `${offerName(offer)} · ${offer.merchant.name}`,
      assets,
      themeColor: link.themeColor,
      isTest: chain.mode === 'test',
    },
    html`<main class="checkout" data-page="link">
      ${h(OfferSummary, { offer })}
      <section class="payment" id="payment" aria-label="Payment" tabindex="-1">
        ${
          availability === 'active'
            ? h(StartForm, { terms: termsOf(view, price), shortCode: link.shortCode, clientReferenceId })
            : closed(availability)
        }
      </section>
    </main>`,
  );
}

function offerOf({ link, chain, token, merchant }: LinkView, price: bigint | null): Offer {
  const shipping = firstShipping(link.shippingOptions);
  return {
    merchant,
    name: link.name,
    description: link.description,
    imageUrl: link.imageUrl,
    items: link.items,
    token,
    chainName: chain.name,
    total: price === null ? null : price + shipping,
    extras: link.shippingOptions.length === 0 ? [] : [{ name: 'Shipping', amount: shipping }],
  };
}

function termsOf({ link, chain, token }: LinkView, price: bigint | null): StartTerms {
  return { ...link, token, chainName: chain.name, price, fields: link.formSchema?.fields ?? [] };
}

function closed(availability: Exclude<Availability, 'active'>): VNode {
  const { title, text } = CLOSED[availability];
  return html`<div class="status-panel calm" role="status" data-state-name=${availability}>
    <div><h2>${title}</h2><p>${text}</p></div>
  </div>`;
}

/** Price of a link; null when the payer chooses it. */
function fixedPrice(link: PaymentLink): bigint | null {
  const faults: FieldError[] = [];
  const price = subtotalOf(link, undefined, fault => faults.push(fault));
  return faults.length === 0 ? price : null;
}
