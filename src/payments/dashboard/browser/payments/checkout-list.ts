import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { List } from '#pages/browser/list.ts';
import { Ago } from '#pages/browser/moment.ts';
import { Reference } from '#pages/browser/reference.ts';
import { dashboard } from '../addresses.ts';
import { api, type Payments } from '../api.ts';
import { Amount, ChainName } from '../chains.ts';
import { givenFilters, givenPeriod, oneOf } from '../filters.ts';
import { nextPage, pageQuery } from '../paging.ts';
import { CheckoutStatus } from '../statuses.ts';

type Session = Payments['CheckoutSession'];

const RENEW_MS = 5_000;
const STATUSES = ['active', 'completed', 'expired'] as const;

/** Checkouts selected by the filters in the URL. */
export function CheckoutList(): VNode {
  const status = oneOf('status', STATUSES);
  const link = givenFilters().get('payment_link_id');
  const filters = { ...(status && { status }), ...(link && { payment_link_id: link }), ...givenPeriod() };
  return html`<${List}
    label="Checkouts"
    load=${(page: number | undefined, signal: AbortSignal) =>
      api.GET('/api/v1/checkout-sessions', { params: { query: { ...filters, ...pageQuery(page) } }, signal })}
    pageOf=${nextPage}
    keyOf=${({ id }: Session) => id}
    everyMs=${RENEW_MS}
    empty=${
      Object.keys(filters).length === 0
        ? 'No payer has opened a link yet. A checkout begins when one does, or when your shop creates it.'
        : 'No checkout fits these filters.'
    }
    columns=${CHECKOUT_COLUMNS}
  />`;
}

/** Columns of a list of checkouts. */
export const CHECKOUT_COLUMNS = [
  {
    name: 'Amount',
    cell: (session: Session) =>
      html`<a href=${dashboard.payment(session.id)}><${Amount} units=${session.amount} of=${session} /></a>`,
  },
  { name: 'Status', cell: (session: Session) => html`<${CheckoutStatus} session=${session} />` },
  {
    name: 'Customer',
    cell: ({ customerName, customerEmail, payer_address }: Session) =>
      customerName !== null || customerEmail !== null
        ? html`<span class="clipped" title=${customerEmail}>${customerName ?? customerEmail}</span>`
        : payer_address === null
          ? '–'
          : html`<${Reference} value=${payer_address} />`,
  },
  {
    name: 'Reference',
    cell: ({ clientReferenceId }: Session) =>
      clientReferenceId === null ? '–' : html`<span class="clipped">${clientReferenceId}</span>`,
  },
  { name: 'Chain', cell: ({ chain_id }: Session) => html`<${ChainName} id=${chain_id} />` },
  { name: 'Opened', cell: ({ created_at }: Session) => html`<${Ago} at=${created_at} />` },
  {
    name: 'Id',
    cell: ({ id }: Session) => html`<${Reference} value=${id} href=${dashboard.payment(id)} />`,
  },
];
