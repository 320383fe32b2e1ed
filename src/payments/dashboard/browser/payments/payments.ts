import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { answerOf, useAnswer } from '#pages/browser/answer.ts';
import { useChange } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { Tabs } from '#pages/browser/layout.ts';
import { dashboard } from '../addresses.ts';
import { api, type Payments } from '../api.ts';
import { Choice, Days, Filters, givenFilters } from '../filters.ts';
import { openPage } from '../frame.ts';
import {
  CHECKOUT_STATUSES,
  CheckoutList,
  OUTCOMES,
  TRANSFER_STATUSES,
  TransferList,
} from './payment-lists.ts';

/** Page of checkouts and their transfers, the newest first. */
function PaymentsPage(): VNode {
  return html`
    <div class="title"><h1>Payments</h1>${h(Finder, {})}</div>
    ${h(Tabs, {
      label: 'Payments',
      tabs: [
        {
          id: 'checkouts',
          label: 'Checkouts',
          content: () =>
            html`${h(Narrowed, { statuses: CHECKOUT_STATUSES, outcomes: OUTCOMES })}${h(CheckoutList, {})}`,
        },
        {
          id: 'transfers',
          label: 'Transfers',
          content: () => html`${h(Narrowed, { statuses: TRANSFER_STATUSES })}${h(TransferList, {})}`,
        },
      ],
    })}
  `;
}

type Options = readonly (readonly [value: string, text: string])[];

function Narrowed({ statuses, outcomes }: { statuses: Options; outcomes?: Options }): VNode {
  const links = useAnswer(signal => api.GET('/api/v1/payment-links', { params: { query: LINKS }, signal }));
  const listed =
    links.answer?.data.data.map(({ id, name }: Payments['PaymentLink']) => [id, name] as const) ?? [];
  const given = givenFilters().get('payment_link_id');
  const isListed = given === undefined || listed.some(([id]) => id === given);
  return h(Filters, {
    children: html`
      ${h(Choice, { name: 'status', label: 'Status', words: statuses })}
      ${outcomes && h(Choice, { name: 'outcome', label: 'Outcome', words: outcomes })}
      ${h(Choice, {
        name: 'payment_link_id',
        label: 'Link',
        words: isListed ? listed : [...listed, [given, given]],
      })}
      ${h(Days, {})}
    `,
  });
}

const LINKS = { page: 1, limit: 100, sort: 'name', order: 'asc' } as const;

/** Search field that opens the page of an id of any kind. */
function Finder(): VNode {
  const { isBusy, problem, run } = useChange();
  const [hint, setHint] = useState('');
  const find = (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const id = String(new FormData(event.currentTarget).get('id') ?? '').trim();
    setHint('');
    run(async () => {
      const address = await addressOf(id);
      if (address === undefined) setHint('An ID begins with cs_, txn_, pl_ or evt_.');
      else location.assign(address);
    });
  };
  return html`<form class="row" role="search" onSubmit=${find}>
    <label class="visually-hidden" for="find">ID of a checkout, transfer, link or event</label>
    <input id="find" name="id" type="search" placeholder="cs_…, txn_…, pl_… or evt_…" autocomplete="off" required />
    <button disabled=${isBusy}>Find</button>
    <span class="field-error" role="status">${problem?.message ?? hint}</span>
  </form>`;
}

async function addressOf(id: string): Promise<string | undefined> {
  if (id.startsWith('cs_')) return dashboard.payment(id);
  if (id.startsWith('pl_')) return dashboard.link(id);
  if (id.startsWith('evt_')) return dashboard.event(id);
  if (!id.startsWith('txn_')) return undefined;
  const params = { path: { transaction_id: id } };
  const { data } = await answerOf(api.GET('/api/v1/transactions/{transaction_id}', { params }));
  return dashboard.payment(data.session_id);
}

openPage('Payments', PaymentsPage);
