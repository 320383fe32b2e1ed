import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { countText } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { Card } from '#pages/browser/layout.ts';
import { Ago } from '#pages/browser/moment.ts';
import { Table } from '#pages/browser/table.ts';
import { dashboard } from '../addresses.ts';
import type { DashboardOverview } from '../api.ts';
import { Amount } from '../chains.ts';
import { CheckoutStatus } from '../statuses.ts';

type Session = DashboardOverview['open']['data'][number];
type Transfer = DashboardOverview['confirming']['data'][number];

/** Current activity: open checkouts, and payments that are being confirmed. */
export function Present({ open, confirming }: Pick<DashboardOverview, 'open' | 'confirming'>): VNode {
  return html`<div class="grid">
    ${h(Card, {
      title: `Open checkouts: ${countText(open.total_count)}`,
      aside: html`<a href=${`${dashboard.payments}?state=active`}>All open</a>`,
      children:
        open.data.length === 0
          ? html`<p class="small">
            No open checkouts. <a href=${dashboard.links}>Share a link</a> to get paid.
          </p>`
          : h(Table<Session>, {
              label: 'Open checkouts',
              items: open.data,
              keyOf: ({ id }) => id,
              columns: OPEN,
            }),
    })}
    ${h(Card, {
      title: `Confirming: ${countText(confirming.total_count)}`,
      aside: html`<a href=${`${dashboard.payments}?tab=transfers&status=confirming`}>All confirming</a>`,
      children:
        confirming.data.length === 0
          ? html`<p class="small">No payments are confirming.</p>`
          : h(Table<Transfer>, {
              label: 'Confirming',
              items: confirming.data,
              keyOf: ({ id }) => id,
              columns: CONFIRMING,
            }),
    })}
  </div>`;
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
