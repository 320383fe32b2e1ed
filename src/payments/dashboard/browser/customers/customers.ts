import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { Ago } from '#pages/browser/moment.ts';
import { Reference } from '#pages/browser/reference.ts';
import { dashboard } from '../addresses.ts';
import { api, type Payments } from '../api.ts';
import { Choice, Filters, givenFilters, oneOf } from '../filters.ts';
import { openPage } from '../frame.ts';
import { cursorList, cursorQuery } from '../paging.ts';
import { Download } from '../session/download.ts';
import { nameOf, Totals } from './customer-parts.ts';

type Customer = Payments['Customer'];

const RENEW_MS = 10_000;
const PURCHASES = [
  ['true', 'Have bought'],
  ['false', 'Have not bought yet'],
] as const;

/** Page of customers, the newest first. */
function CustomersPage(): VNode {
  const query = givenFilters().get('query');
  const paid = oneOf('paid', PURCHASES);
  const filters = { ...(query && { query }), ...(paid && { paid: paid === 'true' }) };
  return html`
    <h1>Customers</h1>
    <p class="hint">Payers who left an e-mail address, or signed with a wallet.</p>
    ${h(Filters, {
      children: html`
        <label class="search">
          Search
          <input
            name="query"
            type="search"
            value=${query}
            maxlength="200"
            placeholder="Email, wallet or ID"
            autocomplete="off"
          />
        </label>
        ${h(Choice, { name: 'paid', label: 'Purchases', words: PURCHASES })}
      `,
    })}
    ${cursorList({
      label: 'Customers',
      load: (cursor, signal) =>
        api.GET('/api/v1/customers', { params: { query: { ...filters, ...cursorQuery(cursor) } }, signal }),
      keyOf: ({ id }: Customer) => id,
      everyMs: RENEW_MS,
      empty:
        Object.keys(filters).length === 0
          ? 'No customers yet. One is listed when a payer leaves an e-mail address or signs with a wallet.'
          : 'No customers match. The whole e-mail address is compared; names are encrypted and cannot be searched.',
      columns: COLUMNS,
      aside: h(Download, {
        path: 'customers/export',
        query: filters,
        file: 'customers.csv',
        label: 'Export (CSV)',
      }),
    })}
  `;
}

const COLUMNS = [
  {
    name: 'Customer',
    cell: (customer: Customer) =>
      html`<a class="clipped" href=${dashboard.customer(customer.id)}>${nameOf(customer)}</a>`,
  },
  { name: 'Email', cell: ({ email }: Customer) => clipped(email) },
  {
    name: 'Wallet',
    cell: ({ wallet_address: wallet }: Customer) => (wallet === null ? '–' : h(Reference, { value: wallet })),
  },
  {
    name: 'Completed',
    cell: ({ checkouts, completed_checkouts: completed }: Customer) => `${completed} of ${checkouts}`,
  },
  {
    name: 'Received',
    cell: ({ totals }: Customer) => h(Totals, { totals, amountOf: total => total.amount_received }),
  },
  {
    name: 'Latest purchase',
    cell: ({ last_purchase_at: at }: Customer) => (at === null ? '–' : h(Ago, { at })),
  },
  { name: 'Since', cell: ({ created_at }: Customer) => h(Ago, { at: created_at }) },
];

function clipped(text: string | null): VNode | string {
  return text === null ? '–' : html`<span class="clipped" title=${text}>${text}</span>`;
}

openPage('Customers', CustomersPage);
