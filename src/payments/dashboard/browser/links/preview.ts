import { html } from 'htm/preact';
import { render, type VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type Denomination, smallestUnits } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { imageIdIn, pictureAddress } from '#payments/browser/image-address.ts';
import { LinkCheckout, type LinkData } from '#payments/checkout/page/browser/link/link-checkout.ts';
import { PageTexts } from '#payments/checkout/page/browser/texts.ts';
import { themeColours, themeName } from '#payments/checkout/page/browser/theme.ts';
import { type Chains, tokenAt } from '../chains.ts';
import type { Draft } from './draft.ts';

/** Style sheets of the pay page. A shadow tree separates them from the dashboard's. */
const SHEETS = ['#pages/browser/base.css', '#payments/checkout/page/browser/checkout.css'];

/**
 * Preview of a draft's pay page, built from the pay page's own components. Images of other hosts are left out, because the
 * dashboard loads nothing from there.
 */
export function Preview({
  draft,
  chains,
  merchant,
}: {
  draft: Draft;
  chains: Chains;
  merchant: string;
}): VNode {
  const { chainId: chain_id, tokenAddress: token_address, themeColor } = draft;
  const token = tokenAt(chains, { chain_id, token_address }) ?? { symbol: '', decimals: 0 };
  const view = { draft, token, chain: chains.find(({ id }) => id === chain_id)?.name ?? '', merchant };
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { current } = element;
    if (current === null) return;
    void import('#payments/browser/languages/en.ts').then(({ ENGLISH }) =>
      render(
        html`${SHEETS.map(name => html`<link rel="stylesheet" href=${import.meta.resolve(name)} />`)}
      <div inert style=${{ display: 'grid', gap: '1rem' }}>
        ${h(PageTexts.Provider, {
          value: ENGLISH,
          children: h(LinkCheckout, { data: dataOfDraft(view), onStart: () => Promise.resolve() }),
        })}
      </div>`,
        current.shadowRoot ?? current.attachShadow({ mode: 'open' }),
      ),
    );
  });
  return html`<div class="preview" style=${styleOf(themeColor)} ref=${element}></div>`;
}

/** Custom properties for the merchant's colour. The pay page itself loads a style sheet of the colour instead. */
function styleOf(themeColor: string): Readonly<Record<string, string>> {
  const colours = themeColours(themeName(themeColor) ?? '');
  if (colours === undefined) return {};
  const { accent, text, lines } = colours;
  return { '--fill': accent, '--on-fill': text, '--edge': `light-dark(${lines.light}, ${lines.dark})` };
}

interface View {
  readonly draft: Draft;
  readonly token: Denomination;
  readonly chain: string;
  readonly merchant: string;
}

function dataOfDraft(view: View): LinkData {
  return { shortCode: '', offer: offerOf(view), terms: termsOf(view), reference: null, closed: null };
}

function offerOf({ draft, token, chain, merchant }: View): LinkData['offer'] {
  return {
    merchant: { name: draft.businessName.trim() || merchant, logo_url: ownPicture(draft.logoUrl) },
    name: draft.name.trim() || 'Name of the link',
    description: draft.description.trim() || null,
    imageUrl: ownPicture(draft.imageUrl),
    items: draft.pricing === 'open' ? [] : itemsOf(draft, token),
    token,
    chainName: chain,
  };
}

function termsOf({ draft, token, chain }: View): LinkData['terms'] {
  const bound = (text: string) => (text.trim() === '' ? null : String(unitsOf(text, token)));
  const price = priceOf(draft, token);
  return {
    token,
    chainName: chain,
    price: price === null ? null : String(price),
    minAmount: bound(draft.minAmount),
    maxAmount: bound(draft.maxAmount),
    suggestedAmount: bound(draft.suggestedAmount),
    fields: draft.fields.map(({ isRequired, options, ...field }) => ({
      ...field,
      required: isRequired,
      options: options.split('\n'),
    })),
    collectShippingAddress: draft.collectsAddress,
    shippingOptions: shippingOf(draft, token),
    buttonText: draft.buttonText.trim() || 'Pay',
  };
}

function itemsOf({ items }: Draft, token: Denomination): LinkData['offer']['items'] {
  return items.map((item, index) => ({
    id: String(index),
    name: item.name,
    description: item.description.trim() || null,
    image_url: ownPicture(item.imageUrl),
    amount: String(unitsOf(item.amount, token)),
    quantity: Math.max(1, Math.floor(Number(item.quantity)) || 1),
  }));
}

function shippingOf({ shipping }: Draft, token: Denomination): LinkData['terms']['shippingOptions'] {
  return shipping.map(({ id, name, amount, days }) => ({
    id,
    name,
    amount: String(unitsOf(amount, token)),
    estimated_days: days.trim() === '' ? null : Number(days),
  }));
}

/** Null when the payer chooses. */
function priceOf(draft: Draft, token: Denomination): bigint | null {
  if (draft.pricing === 'open') return null;
  if (draft.pricing === 'fixed') return unitsOf(draft.amount, token);
  return itemsOf(draft, token).reduce(
    (sum, { amount, quantity }) => sum + BigInt(amount) * BigInt(quantity),
    0n,
  );
}

/** Address of an uploaded picture; null for any other. */
function ownPicture(address: string): string | null {
  return imageIdIn(address) === undefined ? null : pictureAddress(address);
}

/** Zero while the text is not a valid amount. */
function unitsOf(text: string, { decimals }: Denomination): bigint {
  return smallestUnits(text, decimals) ?? 0n;
}
