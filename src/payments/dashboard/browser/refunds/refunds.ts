import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { Ago } from '#pages/browser/moment.ts';
import { Reference } from '#pages/browser/reference.ts';
import { dashboard } from '../addresses.ts';
import { api, type Payments } from '../api.ts';
import { Amount, ChainName } from '../chains.ts';
import { Choice, Days, Filters, givenFilters, givenPeriod, oneOf } from '../filters.ts';
import { openPage } from '../frame.ts';
import { numberedList, pageQuery } from '../paging.ts';
import { Download } from '../session/download.ts';
import { REFUND_STATUSES, RefundStatus } from './refund-parts.ts';

type Refund = Payments['Refund'];

const RENEW_MS = 5_000;

/** Page of refunds, the newest first. */
function RefundsPage(): VNode {
  const status = oneOf('status', REFUND_STATUSES);
  const session = givenFilters().get('session_id');
  const filters = { ...(status && { status }), ...(session && { session_id: session }), ...givenPeriod() };
  return html`
    <h1>Refunds</h1>
    <p class="hint">
      Money that you send back from a wallet of yours. Begin on the page of a payment, or with an unmatched transfer.
    </p>
    ${h(Filters, {
      children: html`
        ${h(Choice, { name: 'status', label: 'Status', words: REFUND_STATUSES })}
        ${h(Days, {})}
      `,
    })}
    <p>${h(Download, { path: 'refunds/export', query: filters, file: 'refunds.csv', label: 'Export (CSV)' })}</p>
    ${numberedList({
      label: 'Refunds',
      load: (page, signal) =>
        api.GET('/api/v1/refunds', { params: { query: { ...filters, ...pageQuery(page) } }, signal }),
      keyOf: ({ id }: Refund) => id,
      everyMs: RENEW_MS,
      empty: Object.keys(filters).length === 0 ? 'No refunds yet.' : 'No refunds match these filters.',
      columns: COLUMNS,
    })}
  `;
}

const COLUMNS = [
  {
    name: 'Amount',
    cell: (refund: Refund) =>
      html`<a href=${dashboard.refund(refund.id)}>${h(Amount, { units: refund.amount, of: refund })}</a>`,
  },
  { name: 'Status', cell: (refund: Refund) => h(RefundStatus, { refund }) },
  {
    name: 'Destination',
    cell: ({ destination_address }: Refund) => h(Reference, { value: destination_address }),
  },
  {
    name: 'Payment',
    cell: ({ session_id }: Refund) =>
      session_id === null ? '–' : h(Reference, { value: session_id, href: dashboard.payment(session_id) }),
  },
  { name: 'Chain', cell: ({ chain_id }: Refund) => h(ChainName, { id: chain_id }) },
  { name: 'Created', cell: ({ created_at }: Refund) => h(Ago, { at: created_at }) },
];

openPage('Refunds', RefundsPage);
