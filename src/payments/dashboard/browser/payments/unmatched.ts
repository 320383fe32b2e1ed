import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { answerOf } from '#pages/browser/answer.ts';
import { DialogButton } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { TextField } from '#pages/browser/fields.ts';
import { Ago } from '#pages/browser/moment.ts';
import { Reference } from '#pages/browser/reference.ts';
import { dashboard } from '../addresses.ts';
import { api, idempotencyKey, type Payments } from '../api.ts';
import { Amount, ChainName, TransactionHash, useChains } from '../chains.ts';
import { Choice, Filters, givenFilters, oneOf } from '../filters.ts';
import { openPage } from '../frame.ts';
import { numberedList, pageQuery } from '../paging.ts';
import { useHasPermission } from '../signed-in.ts';
import { SetAsideWarning } from './set-aside.ts';

type Transfer = Payments['UnmatchedTransfer'];

const RENEW_MS = 10_000;
const STATUSES = ['open', 'assigned', 'set_aside'] as const;
const STATUS_WORDS = [
  ['open', 'Open'],
  ['assigned', 'Assigned'],
  ['set_aside', 'Waiting for receipt'],
] as const;

/** Page of transfers that match no checkout, each with the checkout it was probably meant for. */
function UnmatchedPage(): VNode {
  const mayAssign = useHasPermission('write');
  const [changes, setChanges] = useState(0);
  const chain = Number(givenFilters().get('chain_id'));
  const status = oneOf('status', STATUSES);
  const filters = { ...(status && { status }), ...(chain > 0 && { chain_id: chain }) };
  const assigned = () => setChanges(changes + 1);
  return html`
    <h1>Unmatched transfers</h1>
    <p class="hint">
      Transfers to one of your recipients that match no checkout by sender or exact amount. Assign each one to the
      checkout it was meant for.
    </p>
    ${h(SetAsideWarning, {})}
    ${h(Filters, {
      children: html`
        ${h(Choice, { name: 'status', label: 'Status', words: STATUS_WORDS })}
        ${h(Choice, {
          name: 'chain_id',
          label: 'Chain',
          words: (useChains() ?? []).map(({ id, name }) => [String(id), name] as const),
        })}
      `,
    })}
    ${numberedList({
      label: 'Unmatched transfers',
      load: (page, signal) =>
        api.GET('/api/v1/unmatched-transfers', {
          params: { query: { ...filters, ...pageQuery(page) } },
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
        { name: 'Checkout', cell: (transfer: Transfer) => h(Assignment, { transfer, mayAssign, assigned }) },
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

interface AssignmentProps {
  readonly transfer: Transfer;
  readonly mayAssign: boolean;
  readonly assigned: () => void;
}

/** Checkout of a transfer: the assigned one, or a suggestion and the button to assign one. */
function Assignment({ transfer, mayAssign, assigned }: AssignmentProps): VNode {
  const { session_id, suggested_session_id } = transfer;
  // The suggestion can change with each refresh. The field follows it until the reader types.
  const [typed = suggested_session_id ?? '', setTyped] = useState<string>();
  if (session_id !== null) {
    return h(Reference, { value: session_id, href: dashboard.payment(session_id) });
  }
  if (transfer.status === 'set_aside') {
    return html`<span class="small">Waiting for the receipt of its transaction</span>`;
  }
  return html`
    ${
      suggested_session_id === null
        ? html`<span class="small">No suggestion</span> `
        : html`${h(Reference, { value: suggested_session_id, href: dashboard.payment(suggested_session_id) })} <span class="small">suggested</span> `
    }
    ${mayAssign && html`<a class="button" href=${dashboard.newRefund({ unmatched_transfer_id: transfer.id })}>Refund</a>`}
    ${
      mayAssign &&
      h(DialogButton, {
        label: 'Assign',
        title: 'Assign this transfer to a checkout?',
        onConfirm: () => assign(transfer.id, typed).then(assigned),
        children: html`
          <p>
            ${h(Amount, { units: transfer.amount, of: transfer })} will count as a payment of the checkout. This cannot be
            undone.
          </p>
          ${h(TextField, {
            label: 'Checkout ID',
            param: 'session_id',
            value: typed,
            isRequired: true,
            placeholder: 'cs_…',
            onValue: (text: string) => setTyped(text.trim()),
          })}
        `,
      })
    }
  `;
}

function assign(id: string, sessionId: string): Promise<unknown> {
  const params = { path: { unmatched_transfer_id: id }, header: { 'Idempotency-Key': idempotencyKey() } };
  const body = { session_id: sessionId };
  return answerOf(api.POST('/api/v1/unmatched-transfers/{unmatched_transfer_id}/assign', { params, body }));
}

openPage('Unmatched transfers', UnmatchedPage);
