import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { SelectField } from '#pages/browser/fields.ts';
import { Card } from '#pages/browser/layout.ts';
import { List } from '#pages/browser/list.ts';
import { Ago } from '#pages/browser/moment.ts';
import { Reference } from '#pages/browser/reference.ts';
import { dashboard } from '../addresses.ts';
import { api, type Payments } from '../api.ts';
import { Amount } from '../chains.ts';
import { nextPage, pageQuery } from '../paging.ts';
import { CheckoutStatus } from '../statuses.ts';

type Session = Payments['CheckoutSession'];

const STATUSES: readonly (readonly ['' | Session['status'], string])[] = [
  ['', 'All'],
  ['active', 'Open'],
  ['completed', 'Completed'],
  ['expired', 'Expired'],
];

/** Checkouts of a link, the newest first. */
export function LinkCheckouts({ id }: { id: string }): VNode {
  const [status, setStatus] = useState<'' | Session['status']>('');
  const load = (page: number | undefined, signal: AbortSignal) => {
    const query = { ...pageQuery(page), ...(status !== '' && { status }) };
    const params = { path: { payment_link_id: id }, query };
    return api.GET('/api/v1/payment-links/{payment_link_id}/sessions', { params, signal });
  };
  return html`<${Card} title="Checkouts of this link">
    <${SelectField} label="Status" param="status" value=${status} options=${STATUSES} onValue=${setStatus} />
    <${List}
      label="Checkouts of this link"
      inputs=${[status]}
      load=${load}
      pageOf=${nextPage}
      keyOf=${(session: Session) => session.id}
      empty=${
        status === ''
          ? 'There is no checkout yet. It begins when a payer opens the address of the link.'
          : 'No checkout has this status.'
      }
      columns=${[
        {
          name: 'Checkout',
          cell: (session: Session) =>
            html`<${Reference} value=${session.id} href=${dashboard.payment(session.id)} />`,
        },
        { name: 'Status', cell: (session: Session) => html`<${CheckoutStatus} session=${session} />` },
        {
          name: 'Amount',
          isNumber: true,
          cell: (session: Session) => html`<${Amount} units=${session.amount} of=${session} />`,
        },
        { name: 'Opened', cell: (session: Session) => html`<${Ago} at=${session.created_at} />` },
      ]}
    />
  <//>`;
}
