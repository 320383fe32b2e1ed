import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Tabs } from '#pages/browser/layout.ts';
import { dashboard } from '../addresses.ts';
import { api, type Payments } from '../api.ts';
import { useChains } from '../chains.ts';
import { Choice, Days, Filters, givenFilters, SearchField } from '../filters.ts';
import { openPage } from '../frame.ts';
import { CheckoutList, TransferList } from './payment-lists.ts';
import { CHECKOUT_STATES, MARKS, type Options, ORDERS, TRANSFER_STATUSES } from './search-filters.ts';

/** Page of checkouts and their transfers, with one search for both. */
function PaymentsPage(): VNode {
  const searched = givenFilters().get('query')?.trim() ?? '';
  if (searched.startsWith('evt_')) location.replace(dashboard.event(searched));
  return html`
    <h1>Payments</h1>
    ${h(Tabs, {
      label: 'Payments',
      tabs: [
        {
          id: 'checkouts',
          label: 'Checkouts',
          content: () =>
            html`${h(Search, { name: 'state', label: 'Status', words: CHECKOUT_STATES })}${h(CheckoutList, {})}`,
        },
        {
          id: 'transfers',
          label: 'Transfers',
          content: () =>
            html`${h(Search, {
              name: 'status',
              label: 'Status',
              words: TRANSFER_STATUSES,
              more: h(Choice, { name: 'mark', label: 'Mark', words: MARKS }),
            })}${h(TransferList, {})}`,
        },
      ],
    })}
  `;
}

/** Search field and filters of a list. */
function Search({
  name,
  label,
  words,
  more,
}: {
  name: string;
  label: string;
  words: Options;
  more?: VNode;
}): VNode {
  return h(Filters, {
    children: html`
      ${h(SearchField, { examples: 'Order, email, amount, product, hash …' })}
      ${h(Choice, { name, label, words })} ${more}
      ${h(LinkChoice, {})}${h(TokenChoice, {})}${h(Days, {})}
      ${h(Choice, { name: 'sort', label: 'Order', words: ORDERS, all: 'Newest first' })}
    `,
  });
}

function LinkChoice(): VNode {
  const links = useAnswer(signal => api.GET('/api/v1/payment-links', { params: { query: LINKS }, signal }));
  const listed =
    links.answer?.data.data.map(({ id, name }: Payments['PaymentLink']) => [id, name] as const) ?? [];
  const given = givenFilters().get('payment_link_id');
  const isListed = given === undefined || listed.some(([id]) => id === given);
  return h(Choice, {
    name: 'payment_link_id',
    label: 'Link',
    words: isListed ? listed : [...listed, [given, given]],
  });
}

const LINKS = { page: 1, limit: 100, sort: 'name', order: 'asc' } as const;

/** Tokens of the organization's chains. */
function TokenChoice(): VNode {
  const chains = useChains() ?? [];
  const words = chains.flatMap(({ id, name, tokens }) =>
    tokens.map(({ address, symbol }) => [`${id}:${address}`, `${symbol} on ${name}`] as const),
  );
  return h(Choice, { name: 'token', label: 'Token', words });
}

openPage('Payments', PaymentsPage);
