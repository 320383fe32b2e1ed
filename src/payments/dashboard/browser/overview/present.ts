import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { Awaited, type Loading, useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Card } from '#pages/browser/layout.ts';
import { Ago } from '#pages/browser/moment.ts';
import { Table } from '#pages/browser/table.ts';
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
    ${h(Card, {
      title: counted('Open checkouts', open),
      aside: html`<a href=${`${dashboard.payments}?status=active`}>All open</a>`,
      children: h(Awaited<Payments['CheckoutSessionList']>, {
        loading: open,
        children: ({ data }) =>
          data.length === 0
            ? html`<p class="small">
              No open checkouts. <a href=${dashboard.links}>Share a link</a> to get paid.
            </p>`
            : h(Table<Session>, {
                label: 'Open checkouts',
                items: data,
                keyOf: ({ id }) => id,
                columns: OPEN,
              }),
      }),
    })}
    ${h(Card, {
      title: counted('Confirming', confirming),
      aside: html`<a href=${`${dashboard.payments}?tab=transfers&status=confirming`}>All confirming</a>`,
      children: h(Awaited<Payments['PaymentTransactionList']>, {
        loading: confirming,
        children: ({ data }) =>
          data.length === 0
            ? html`<p class="small">No payments are confirming.</p>`
            : h(Table<Transfer>, {
                label: 'Confirming',
                items: data,
                keyOf: ({ id }) => id,
                columns: CONFIRMING,
              }),
      }),
    })}
  </div>`;
}

function counted(text: string, { answer }: Loading<{ readonly total_count: number }>): string {
  return answer === undefined ? text : `${text}: ${grouped(answer.data.total_count)}`;
}

const OPEN = [
  {
    name: 'Amount',
    cell: (session: Session) =>
      html`<a href=${dashboard.payment(session.id)}>${h(Amount, { units: session.amount, of: session })}</a>`,
  },
  { name: 'Status', cell: (session: Session) => h(CheckoutStatus, { session }) },
  { name: 'Created', cell: ({ created_at }: Session) => h(Ago, { at: created_at }) },
];

const CONFIRMING = [
  {
    name: 'Amount',
    cell: (transfer: Transfer) =>
      html`<a href=${dashboard.payment(transfer.session_id)}>${h(Amount, { units: transfer.amount, of: transfer })}</a>`,
  },
  {
    name: 'Confirmations',
    cell: ({ confirmations, required_confirmations }: Transfer) =>
      `${confirmations} of ${required_confirmations}`,
  },
  { name: 'Detected', cell: ({ created_at }: Transfer) => h(Ago, { at: created_at }) },
];
