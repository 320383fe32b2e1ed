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
import { TransactionStatus } from '../statuses.ts';

type Transfer = Payments['PaymentTransaction'];

const RENEW_MS = 5_000;
const STATUSES = ['pending', 'confirming', 'completed', 'failed'] as const;
const EXPORT = '/dashboard/api/v1/transactions/export';

/** Transfers selected by the filters in the URL, with a CSV export of all of them. */
export function TransferList(): VNode {
  const status = oneOf('status', STATUSES);
  const link = givenFilters().get('payment_link_id');
  const filters = { ...(status && { status }), ...(link && { payment_link_id: link }), ...givenPeriod() };
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
