import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { h } from '#pages/browser/element.ts';
import { Ago } from '#pages/browser/moment.ts';
import { Reference } from '#pages/browser/reference.ts';
import { api, type Payments } from '../api.ts';
import { Amount, ChainName, TransactionHash, useChains } from '../chains.ts';
import { Choice, Filters, givenFilters, oneOf, SearchField } from '../filters.ts';
import { openPage } from '../frame.ts';
import { cursorList, cursorQuery } from '../paging.ts';
import { SetAsideWarning } from './set-aside.ts';
import { TransferDecisions } from './unmatched-decisions.ts';

type Transfer = Payments['UnmatchedTransfer'];

const RENEW_MS = 10_000;
const STATUSES = [
  ['open', 'Open'],
  ['assigned', 'Assigned'],
  ['dismissed', 'Dismissed'],
  ['refunded', 'Refunded'],
  ['set_aside', 'Waiting for receipt'],
] as const;

/** Page of transfers that match no checkout, each with the checkout it was probably meant for. */
function UnmatchedPage(): VNode {
  const [changes, setChanges] = useState(0);
  const chain = Number(givenFilters().get('chain_id'));
  const status = oneOf('status', STATUSES);
  const query = givenFilters().get('query');
  const filters = {
    ...(query !== undefined && { query }),
    ...(status && { status }),
    ...(chain > 0 && { chain_id: chain }),
  };
  const changed = () => setChanges(changes + 1);
  return html`
    <h1>Unmatched transfers</h1>
    <p class="hint">
      Transfers to one of your recipients that match no checkout by sender or exact amount. Assign each one to the
      checkout it was meant for, refund it, or dismiss it if it is no payment.
    </p>
    ${h(SetAsideWarning, {})}
    ${h(Filters, {
      children: html`
        ${h(SearchField, { examples: 'Sender, hash, amount, order, email …' })}
        ${h(Choice, { name: 'status', label: 'Status', words: STATUSES })}
        ${h(Choice, {
          name: 'chain_id',
          label: 'Chain',
          words: (useChains() ?? []).map(({ id, name }) => [String(id), name] as const),
        })}
      `,
    })}
    ${cursorList({
      label: 'Unmatched transfers',
      load: (cursor, signal) =>
        api.GET('/api/v1/unmatched-transfers', {
          params: { query: { ...filters, ...cursorQuery(cursor) } },
          signal,
        }),
      keyOf: ({ id }: Transfer) => id,
      everyMs: RENEW_MS,
      inputs: [changes],
      empty:
        Object.keys(filters).length === 0
          ? 'Every transfer is matched to a checkout.'
          : 'No transfers match these filters.',
      columns: [
        ...COLUMNS,
        { name: 'Checkout', cell: (transfer: Transfer) => h(TransferDecisions, { transfer, changed }) },
      ],
    })}
  `;
}

const COLUMNS = [
  {
    name: 'Amount',
    cell: (transfer: Transfer) => h(Amount, { units: transfer.amount, of: transfer }),
  },
  { name: 'From', cell: ({ sender_address }: Transfer) => h(Reference, { value: sender_address }) },
  {
    name: 'Transaction',
    cell: ({ tx_hash, chain_id }: Transfer) => h(TransactionHash, { hash: tx_hash, chainId: chain_id }),
  },
  { name: 'Chain', cell: ({ chain_id }: Transfer) => h(ChainName, { id: chain_id }) },
  { name: 'Detected', cell: ({ block_timestamp }: Transfer) => h(Ago, { at: block_timestamp }) },
];

openPage('Unmatched transfers', UnmatchedPage);
