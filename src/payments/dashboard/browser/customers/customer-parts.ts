import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { shortened } from '#pages/browser/reference.ts';
import type { Payments } from '../api.ts';
import { Amount } from '../chains.ts';

type Customer = Payments['Customer'];

/** Name of a customer, else the e-mail address, else the wallet. */
export function nameOf({ name, email, wallet_address: wallet, id }: Customer): string {
  return name ?? email ?? shortened(wallet ?? id);
}

/** Amounts of a customer, one line per token; a dash without any. */
export function Totals({
  totals,
  amountOf,
}: {
  totals: Customer['totals'];
  amountOf: (total: Customer['totals'][number]) => string;
}): VNode {
  const shown = totals.filter(total => amountOf(total) !== '0');
  if (shown.length === 0) return html`–`;
  return html`<ul class="plain">
    ${shown.map(
      total => html`<li key=${`${total.chain_id} ${total.token_address}`}>
        ${h(Amount, { units: amountOf(total), of: total })}
      </li>`,
    )}
  </ul>`;
}
