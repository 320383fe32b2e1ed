import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useAnswer } from '#pages/browser/answer.ts';
import { Tabs } from '#pages/browser/layout.ts';
import { api, type Payments } from '../api.ts';
import { Choice, Days, Filters, givenFilters } from '../filters.ts';
import { openPage } from '../frame.ts';
import { CheckoutList } from './checkout-list.ts';
import { Finder } from './finder.ts';
import { TransferList } from './transfer-list.ts';

const SESSION_STATUSES = [
  ['active', 'Open'],
  ['completed', 'Completed'],
  ['expired', 'Expired'],
] as const;
const TRANSFER_STATUSES = [
  ['pending', 'Pending'],
  ['confirming', 'Confirming'],
  ['completed', 'Completed'],
  ['failed', 'Failed'],
] as const;

/** Page of checkouts and their transfers, the newest first. */
function PaymentsPage(): VNode {
  return html`
    <div class="title"><h1>Payments</h1><${Finder} /></div>
    <${Tabs}
      label="Payments"
      tabs=${[
        {
          id: 'checkouts',
          label: 'Checkouts',
          content: () => html`<${Narrowed} statuses=${SESSION_STATUSES} /><${CheckoutList} />`,
        },
        {
          id: 'transfers',
          label: 'Transfers',
          content: () => html`<${Narrowed} statuses=${TRANSFER_STATUSES} /><${TransferList} />`,
        },
      ]}
    />
  `;
}

function Narrowed({ statuses }: { statuses: readonly (readonly [string, string])[] }): VNode {
  const links = useAnswer(
    signal => api.GET('/api/v1/payment-links', { params: { query: LINKS }, signal }),
    [],
  );
  const listed =
    links.answer?.data.data.map(({ id, name }: Payments['PaymentLink']) => [id, name] as const) ?? [];
  const given = givenFilters().get('payment_link_id');
  const isListed = given === undefined || listed.some(([id]) => id === given);
  return html`<${Filters}>
    <${Choice} name="status" label="Status" words=${statuses} />
    <${Choice} name="payment_link_id" label="Link" words=${isListed ? listed : [...listed, [given, given]]} />
    <${Days} />
  <//>`;
}

const LINKS = { page: 1, limit: 100, sort: 'name', order: 'asc' } as const;

openPage('Payments', PaymentsPage);
