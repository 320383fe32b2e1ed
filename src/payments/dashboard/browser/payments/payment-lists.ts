import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { List } from '#pages/browser/list.ts';
import { Ago } from '#pages/browser/moment.ts';
import { Reference } from '#pages/browser/reference.ts';
import { dashboard } from '../addresses.ts';
import { api, type Payments } from '../api.ts';
import { Amount, ChainName, TransactionHash } from '../chains.ts';
import { givenFilters, givenPeriod, oneOf } from '../filters.ts';
import { nextPage, pageQuery } from '../paging.ts';
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
export const TRANSFER_STATUSES = [
  ['pending', 'Pending'],
  ['confirming', 'Confirming'],
  ['completed', 'Completed'],
  ['failed', 'Failed'],
] as const;

/** Checkouts selected by the filters in the URL. */
export function CheckoutList(): VNode {
  const filters = filtersOf(CHECKOUT_STATUSES);
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
const CHECKOUT_COLUMNS = [
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

const EXPORT = '/dashboard/api/v1/transactions/export';

/** Transfers selected by the filters in the URL, with a CSV export of all of them. */
export function TransferList(): VNode {
  const filters = filtersOf(TRANSFER_STATUSES);
  return html`
    <p><a class="button" download="transactions.csv" href=${`${EXPORT}?${new URLSearchParams(filters)}`}>Export (CSV)</a></p>
    <${List}
      label="Transfers"
      load=${(page: number | undefined, signal: AbortSignal) =>
        api.GET('/api/v1/transactions', { params: { query: { ...filters, ...pageQuery(page) } }, signal })}
      pageOf=${nextPage}
      keyOf=${({ id }: Transfer) => id}
      everyMs=${RENEW_MS}
      empty=${
        Object.keys(filters).length === 0
          ? 'No money has come in yet. A transfer is listed as soon as a chain shows it.'
          : 'No transfer fits these filters.'
      }
      columns=${TRANSFER_COLUMNS}
    />
  `;
}

const TRANSFER_COLUMNS = [
  {
    name: 'Amount',
    cell: (transfer: Transfer) =>
      html`<a href=${dashboard.payment(transfer.session_id)}><${Amount} units=${transfer.amount} of=${transfer} /></a>`,
  },
  { name: 'Status', cell: ({ status }: Transfer) => html`<${TransactionStatus} status=${status} />` },
  {
    name: 'Sender',
    cell: ({ sender_address }: Transfer) =>
      sender_address === null ? 'not seen yet' : html`<${Reference} value=${sender_address} />`,
  },
  {
    name: 'Transaction',
    cell: ({ tx_hash, chain_id }: Transfer) =>
      tx_hash === null ? '–' : html`<${TransactionHash} hash=${tx_hash} chainId=${chain_id} />`,
  },
  { name: 'Chain', cell: ({ chain_id }: Transfer) => html`<${ChainName} id=${chain_id} />` },
  { name: 'Recorded', cell: ({ created_at }: Transfer) => html`<${Ago} at=${created_at} />` },
];

/** Filters of the URL, as both lists send them. */
function filtersOf<Status extends string>(statuses: readonly (readonly [Status, string])[]) {
  const status = oneOf(
    'status',
    statuses.map(([one]) => one),
  );
  const link = givenFilters().get('payment_link_id');
  return { ...(status && { status }), ...(link && { payment_link_id: link }), ...givenPeriod() };
}
