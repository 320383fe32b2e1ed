import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { List } from '#pages/browser/list.ts';
import { Ago } from '#pages/browser/moment.ts';
import { Reference } from '#pages/browser/reference.ts';
import { dashboard } from '../addresses.ts';
import { api, type Payments } from '../api.ts';
import { openPage } from '../frame.ts';
import { nextPage, pageQuery } from '../paging.ts';
import { CheckoutStatus } from '../statuses.ts';

type Session = Payments['CheckoutSession'];

const RENEW_MS = 5_000;

/** All checkouts, the newest first. */
function PaymentsPage(): VNode {
  return html`
    <h1>Payments</h1>
    <${List}
      label="Checkouts"
      load=${(page: number | undefined, signal: AbortSignal) =>
        api.GET('/api/v1/checkout-sessions', { params: { query: pageQuery(page) }, signal })}
      pageOf=${nextPage}
      keyOf=${({ id }: Session) => id}
      everyMs=${RENEW_MS}
      empty="There is no checkout yet. It begins when a payer opens a link."
      columns=${[
        {
          name: 'Checkout',
          cell: ({ id }: Session) => html`<${Reference} value=${id} href=${dashboard.payment(id)} />`,
        },
        { name: 'Status', cell: (session: Session) => html`<${CheckoutStatus} session=${session} />` },
        { name: 'Opened', cell: ({ created_at }: Session) => html`<${Ago} at=${created_at} />` },
      ]}
    />
  `;
}

openPage('Payments', PaymentsPage);
