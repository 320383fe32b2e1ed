import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { Ago } from '#pages/browser/moment.ts';
import { Reference } from '#pages/browser/reference.ts';
import { MERCHANT_WORDS } from '#payments/browser/outcome-words.ts';
import { dashboard } from '../addresses.ts';
import { api, type Payments } from '../api.ts';
import { Amount, ChainName, TransactionHash } from '../chains.ts';
import { givenFilters, givenPeriod, oneOf, oneOfKeys } from '../filters.ts';
import { numberedList, pageQuery } from '../paging.ts';
import { CheckoutStatus, TransactionStatus } from '../statuses.ts';

type Session = Payments['CheckoutSession'];
type Transfer = Payments['PaymentTransaction'];

const RENEW_MS = 5_000;
/** Statuses by which a list is filtered, with their names. */
export const CHECKOUT_STATUSES = [
  ['active', 'Open'],
  ['completed', 'Completed'],
  ['expired', 'Expired'],
] as const;
/** Outcomes of checkouts, with the words of their badges. */
export const OUTCOMES = Object.entries(MERCHANT_WORDS).map(
  ([outcome, { badge }]) => [outcome, badge] as const,
);
export const TRANSFER_STATUSES = [
  ['pending', 'Pending'],
  ['confirming', 'Confirming'],
  ['completed', 'Completed'],
  ['failed', 'Failed'],
] as const;

/** Checkouts selected by the filters in the URL. */
export function CheckoutList(): VNode {
  const outcome = oneOfKeys('outcome', MERCHANT_WORDS);
  const filters = { ...filtersOf(CHECKOUT_STATUSES), ...(outcome && { outcome }) };
  return numberedList({
    label: 'Checkouts',
    load: (page, signal) =>
      api.GET('/api/v1/checkout-sessions', { params: { query: { ...filters, ...pageQuery(page) } }, signal }),
    keyOf: ({ id }: Session) => id,
    everyMs: RENEW_MS,
    empty:
      Object.keys(filters).length === 0
        ? 'No checkouts yet. One begins when a payer opens a link, or when your shop creates it.'
        : 'No checkouts match these filters.',
    columns: CHECKOUT_COLUMNS,
  });
}

/** Columns of a list of checkouts. */
const CHECKOUT_COLUMNS = [
  {
    name: 'Amount',
    cell: (session: Session) =>
      html`<a href=${dashboard.payment(session.id)}>${h(Amount, { units: session.amount, of: session })}</a>`,
  },
  { name: 'Status', cell: (session: Session) => h(CheckoutStatus, { session }) },
  {
    name: 'Customer',
    cell: ({ customerName, customerEmail, payer_address }: Session) =>
      customerName !== null || customerEmail !== null
        ? html`<span class="clipped" title=${customerEmail}>${customerName ?? customerEmail}</span>`
        : payer_address === null
          ? '–'
          : h(Reference, { value: payer_address }),
  },
  {
    name: 'Reference',
    cell: ({ clientReferenceId }: Session) =>
      clientReferenceId === null ? '–' : html`<span class="clipped">${clientReferenceId}</span>`,
  },
  { name: 'Chain', cell: ({ chain_id }: Session) => h(ChainName, { id: chain_id }) },
  { name: 'Created', cell: ({ created_at }: Session) => h(Ago, { at: created_at }) },
  {
    name: 'ID',
    cell: ({ id }: Session) => h(Reference, { value: id, href: dashboard.payment(id) }),
  },
];

const EXPORT = '/dashboard/api/v1/transactions/export';

/** Transfers selected by the filters in the URL, with a CSV export of all of them. */
export function TransferList(): VNode {
  const filters = filtersOf(TRANSFER_STATUSES);
  return html`
    <p><a class="button" download="transactions.csv" href=${`${EXPORT}?${new URLSearchParams(filters)}`}>Export (CSV)</a></p>
    ${numberedList({
      label: 'Transfers',
      load: (page, signal) =>
        api.GET('/api/v1/transactions', { params: { query: { ...filters, ...pageQuery(page) } }, signal }),
      keyOf: ({ id }: Transfer) => id,
      everyMs: RENEW_MS,
      empty:
        Object.keys(filters).length === 0
          ? 'No transfers yet. A transfer is listed as soon as it is detected on a chain.'
          : 'No transfers match these filters.',
      columns: TRANSFER_COLUMNS,
    })}
  `;
}

const TRANSFER_COLUMNS = [
  {
    name: 'Amount',
    cell: (transfer: Transfer) =>
      html`<a href=${dashboard.payment(transfer.session_id)}>${h(Amount, { units: transfer.amount, of: transfer })}</a>`,
  },
  { name: 'Status', cell: ({ status }: Transfer) => h(TransactionStatus, { status }) },
  {
    name: 'From',
    cell: ({ status, sender_address }: Transfer) =>
      sender_address !== null
        ? h(Reference, { value: sender_address })
        : status === 'completed'
          ? 'found by the balance'
          : 'not detected yet',
  },
  {
    name: 'Transaction',
    cell: ({ tx_hash, chain_id }: Transfer) =>
      tx_hash === null ? '–' : h(TransactionHash, { hash: tx_hash, chainId: chain_id }),
  },
  { name: 'Chain', cell: ({ chain_id }: Transfer) => h(ChainName, { id: chain_id }) },
  { name: 'Detected', cell: ({ created_at }: Transfer) => h(Ago, { at: created_at }) },
];

/** Filters of the URL, as both lists send them. */
function filtersOf<Status extends string>(statuses: readonly (readonly [Status, string])[]) {
  const status = oneOf('status', statuses);
  const link = givenFilters().get('payment_link_id');
  return { ...(status && { status }), ...(link && { payment_link_id: link }), ...givenPeriod() };
}
