import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { Badge } from '#pages/browser/layout.ts';
import { Ago } from '#pages/browser/moment.ts';
import { Reference } from '#pages/browser/reference.ts';
import { dashboard } from '../addresses.ts';
import { api, type Payments } from '../api.ts';
import { Amount, ChainName, TransactionHash } from '../chains.ts';
import { cursorList, cursorQuery } from '../paging.ts';
import { Download } from '../session/download.ts';
import { CheckoutStatus, TransactionStatus } from '../statuses.ts';
import { checkoutFilters, givenOrder, MARKS, transferFilters } from './search-filters.ts';

type Session = Payments['CheckoutSession'];
type Transfer = Payments['PaymentTransaction'];

const RENEW_MS = 5_000;

/** Checkouts of a customer, else those selected by the search and the filters in the URL, with a CSV export of all. */
export function CheckoutList({ customerId }: { customerId?: string }): VNode {
  const filters = customerId === undefined ? checkoutFilters() : { customer_id: customerId };
  const order = givenOrder();
  return cursorList({
    label: 'Checkouts',
    load: (cursor, signal) => {
      const query = { ...filters, ...order, ...cursorQuery(cursor) };
      return api.GET('/api/v1/checkout-sessions', { params: { query }, signal });
    },
    keyOf: ({ id }: Session) => id,
    everyMs: RENEW_MS,
    empty:
      Object.keys(filters).length === 0
        ? 'No checkouts yet. One begins when a payer opens a link, or when your shop creates it.'
        : 'No checkouts match.',
    columns: CHECKOUT_COLUMNS,
    aside: exportLink('checkout-sessions', filters),
  });
}

function exportLink(list: 'checkout-sessions' | 'transactions', filters: object): VNode {
  return h(Download, { path: `${list}/export`, query: filters, file: `${list}.csv`, label: 'Export (CSV)' });
}

/** Columns of a list of checkouts. */
const CHECKOUT_COLUMNS = [
  {
    name: 'Amount',
    cell: (session: Session) =>
      html`<a href=${dashboard.payment(session.id)}>${h(Amount, { units: session.amount, of: session })}</a>`,
  },
  { name: 'Status', cell: (session: Session) => h(CheckoutStatus, { session }) },
  { name: 'Product', cell: ({ product_name }: Session) => clipped(product_name) },
  {
    name: 'Customer',
    cell: (session: Session) => customerLink(session) ?? walletOf(session),
  },
  { name: 'Reference', cell: ({ clientReferenceId }: Session) => clipped(clientReferenceId) },
  { name: 'Chain', cell: ({ chain_id }: Session) => h(ChainName, { id: chain_id }) },
  { name: 'Created', cell: ({ created_at }: Session) => h(Ago, { at: created_at }) },
  {
    name: 'ID',
    cell: ({ id }: Session) => h(Reference, { value: id, href: dashboard.payment(id) }),
  },
];

/** Transfers, selected in the same way. */
export function TransferList({ customerId }: { customerId?: string }): VNode {
  const filters = customerId === undefined ? transferFilters() : { customer_id: customerId };
  const order = givenOrder();
  return cursorList({
    label: 'Transfers',
    load: (cursor, signal) => {
      const query = { ...filters, ...order, ...cursorQuery(cursor) };
      return api.GET('/api/v1/transactions', { params: { query }, signal });
    },
    keyOf: ({ id }: Transfer) => id,
    everyMs: RENEW_MS,
    empty:
      Object.keys(filters).length === 0
        ? 'No transfers yet. A transfer is listed as soon as it is detected on a chain.'
        : 'No transfers match.',
    columns: TRANSFER_COLUMNS,
    aside: exportLink('transactions', filters),
  });
}

const TRANSFER_COLUMNS = [
  {
    name: 'Amount',
    cell: (transfer: Transfer) =>
      html`<a href=${dashboard.payment(transfer.session_id)}>${h(Amount, { units: transfer.amount, of: transfer })}</a>`,
  },
  {
    name: 'Status',
    cell: (transfer: Transfer) =>
      html`${h(TransactionStatus, transfer)}${marksOf(transfer).map(mark => h(Badge, { tone: 'busy', children: mark }))}`,
  },
  { name: 'Product', cell: ({ product_name }: Transfer) => clipped(product_name) },
  { name: 'Customer', cell: (transfer: Transfer) => customerLink(transfer) ?? '–' },
  { name: 'Reference', cell: ({ clientReferenceId }: Transfer) => clipped(clientReferenceId) },
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

function clipped(text: string | null): VNode | string {
  return text === null ? '–' : html`<span class="clipped" title=${text}>${text}</span>`;
}

/** Name or e-mail address that a checkout has, linked to its customer; undefined for neither. */
function customerLink({
  customer_id: id,
  customerName: name,
  customerEmail: email,
}: Pick<Session, 'customer_id' | 'customerName' | 'customerEmail'>): VNode | undefined {
  const shown = name ?? email;
  if (shown === null) return undefined;
  const title = email ?? shown;
  return id === null
    ? html`<span class="clipped" title=${title}>${shown}</span>`
    : html`<a class="clipped" title=${title} href=${dashboard.customer(id)}>${shown}</a>`;
}

/** The wallet of a payer who left neither name nor email address, linked to the customer if it signed. */
function walletOf({ payer_address: wallet, customer_id: id }: Session): VNode | string {
  if (wallet === null) return '–';
  return h(Reference, { value: wallet, ...(id !== null && { href: dashboard.customer(id) }) });
}

function marksOf({ late, duplicate, partial, overpaid_amount: overpaid }: Transfer): string[] {
  const isMarked = { late, duplicate, partial, overpaid: overpaid !== null && overpaid !== '0' };
  return MARKS.filter(([mark]) => isMarked[mark]).map(([, words]) => words);
}
