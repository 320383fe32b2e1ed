import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { Badge, type Tone } from '#pages/browser/layout.ts';
import type { Payments } from '../api.ts';
import { Amount } from '../chains.ts';

type Link = Payments['PaymentLink'];

const STATES: Readonly<Record<Link['availability'], readonly [Tone, string]>> = {
  active: ['good', 'Active'],
  inactive: ['plain', 'Deactivated'],
  used_up: ['warning', 'Sold out'],
  expired: ['warning', 'Expired'],
};

/** State of a link: active, or the reason that no checkout can begin. */
export function Availability({ link }: { link: Pick<Link, 'availability'> }): VNode {
  const [tone, text] = STATES[link.availability];
  return h(Badge, { tone, children: text });
}

/** Price of a link: its amount, the sum of its items, or the payer's choice. */
export function LinkPrice({ link }: { link: Link }): VNode {
  const price = priceOf(link);
  if (price === null) return html`<span>chosen by the payer</span>`;
  return h(Amount, { units: price, of: link });
}

/** Null when the payer chooses. */
function priceOf({ amount, items }: Link): string | null {
  if (amount !== null || items.length === 0) return amount;
  return String(items.reduce((sum, item) => sum + BigInt(item.amount) * BigInt(item.quantity), 0n));
}
