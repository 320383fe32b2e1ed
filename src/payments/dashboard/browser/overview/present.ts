import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { Awaited, type Loading, useAnswer } from '#pages/browser/answer.ts';
import { Card } from '#pages/browser/layout.ts';
import { Table } from '#pages/browser/list.ts';
import { Ago } from '#pages/browser/moment.ts';
import { dashboard } from '../addresses.ts';
import { api, type Payments } from '../api.ts';
import { Amount } from '../chains.ts';
import { CheckoutStatus } from '../statuses.ts';

type Session = Payments['CheckoutSession'];
type Transfer = Payments['PaymentTransaction'];

/** The two requests per interval use a fifth of a key's rate limit. */
const RENEW_MS = 5_000;
const LATEST = { page: 1, limit: 5 } as const;

/** Current activity: open checkouts, and payments that are being confirmed. */
export function Present(): VNode {
  const open = useAnswer(
    signal =>
      api.GET('/api/v1/checkout-sessions', { params: { query: { status: 'active', ...LATEST } }, signal }),
    [],
    { everyMs: RENEW_MS },
  );
  const confirming = useAnswer(
    signal =>
      api.GET('/api/v1/transactions', { params: { query: { status: 'confirming', ...LATEST } }, signal }),
    [],
    { everyMs: RENEW_MS },
  );
  return html`<div class="grid">
    <${Card} title=${counted('Open checkouts', open)} aside=${html`<a href=${`${dashboard.payments}?status=active`}>All open</a>`}>
      <${Awaited} loading=${open}>
        ${({ data }: Payments['CheckoutSessionList']) =>
          data.length === 0
            ? html`<p class="small">
                Nobody is paying at the moment. <a href=${dashboard.links}>Share a link</a> to be paid.
              </p>`
            : html`<${Table} label="Open checkouts" items=${data} keyOf=${({ id }: Session) => id} columns=${OPEN} />`}
      <//>
    <//>
    <${Card}
      title=${counted('Confirming', confirming)}
      aside=${html`<a href=${`${dashboard.payments}?tab=transfers&status=confirming`}>All confirming</a>`}
    >
      <${Awaited} loading=${confirming}>
        ${({ data }: Payments['PaymentTransactionList']) =>
          data.length === 0
            ? html`<p class="small">No payment is waiting for confirmations.</p>`
            : html`<${Table} label="Confirming" items=${data} keyOf=${({ id }: Transfer) => id} columns=${CONFIRMING} />`}
      <//>
    <//>
  </div>`;
}

function counted(text: string, { answer }: Loading<{ readonly total_count: number }>): string {
  return answer === undefined ? text : `${text}: ${grouped(answer.data.total_count)}`;
}

const OPEN = [
  {
    name: 'Amount',
    cell: (session: Session) =>
      html`<a href=${dashboard.payment(session.id)}><${Amount} units=${session.amount} of=${session} /></a>`,
  },
  { name: 'Status', cell: (session: Session) => html`<${CheckoutStatus} session=${session} />` },
  { name: 'Opened', cell: ({ created_at }: Session) => html`<${Ago} at=${created_at} />` },
];

const CONFIRMING = [
  {
    name: 'Amount',
    cell: (transfer: Transfer) =>
      html`<a href=${dashboard.payment(transfer.session_id)}><${Amount} units=${transfer.amount} of=${transfer} /></a>`,
  },
  {
    name: 'Confirmations',
    cell: ({ confirmations, required_confirmations }: Transfer) =>
      `${confirmations} of ${required_confirmations}`,
  },
  { name: 'Seen', cell: ({ created_at }: Transfer) => html`<${Ago} at=${created_at} />` },
];
