import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { Awaited, useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Badge, Card } from '#pages/browser/layout.ts';
import { Ago } from '#pages/browser/moment.ts';
import { dashboard } from '../addresses.ts';
import { api, type Payments } from '../api.ts';

type Webhook = Payments['Webhook'];

const RENEW_MS = 30_000;
const WEBHOOKS = { page: 1, limit: 5 } as const;
const LATEST_FAILED = { status: 'failed', page: 1, limit: 1 } as const;

/** Unmatched transfers, and the state of the webhooks. */
export function Health(): VNode {
  const webhooks = useAnswer(
    signal => api.GET('/api/v1/webhooks', { params: { query: WEBHOOKS }, signal }),
    [],
    { everyMs: RENEW_MS },
  );
  return h(Card, {
    title: 'Needs attention',
    aside: html`<a href=${dashboard.webhooks}>All webhooks</a>`,
    children: html`
      ${h(Unmatched, {})}
      ${h(Awaited<Payments['WebhookListAnswer']>, {
        loading: webhooks,
        children: ({ data }) =>
          data.length === 0
            ? html`<p class="small">
              No webhook receives your events yet. <a href=${dashboard.webhooks}>Add a webhook</a>.
            </p>`
            : html`<ul class="plain stack">
              ${data.map(webhook => html`<li key=${webhook.id}>${h(Deliveries, { webhook })}</li>`)}
            </ul>`,
      })}
    `,
  });
}

function Unmatched(): VNode {
  const transfers = useAnswer(
    signal =>
      api.GET('/api/v1/unmatched-transfers', {
        params: { query: { status: 'open', page: 1, limit: 1 } },
        signal,
      }),
    [],
    { everyMs: RENEW_MS },
  );
  return h(Awaited<Payments['UnmatchedTransferList']>, {
    loading: transfers,
    children: ({ total_count: count }) =>
      count === 0
        ? html`<p>${h(Badge, { tone: 'good', children: 'None' })} Every transfer is matched to a checkout.</p>`
        : html`<p>
          ${h(Badge, { tone: 'warning', children: grouped(count) })} <a href=${`${dashboard.unmatched}?status=open`}>unmatched transfers</a>
        </p>`,
  });
}

/** State of a webhook, with the number of its failed deliveries. */
function Deliveries({ webhook }: { webhook: Webhook }): VNode {
  const { id, url, is_active, disabled_reason, last_triggered_at } = webhook;
  const failed = useAnswer(
    signal =>
      api.GET('/api/v1/webhooks/{webhook_id}/deliveries', {
        params: { path: { webhook_id: id }, query: LATEST_FAILED },
        signal,
      }),
    [id],
    { everyMs: RENEW_MS },
  );
  return html`
    <a href=${dashboard.webhook(id)}>${url}</a>
    ${
      !is_active &&
      html` ${h(Badge, {
        tone: 'bad',
        children: disabled_reason === null ? 'Disabled' : 'Disabled after failures',
      })}`
    }
    ${h(Awaited<Payments['WebhookDeliveryListAnswer']>, {
      loading: failed,
      children: ({ data: [latest], total_count: count }) =>
        latest === undefined
          ? html`<p class="small">
            ${h(Badge, { tone: 'good', children: 'No failed deliveries' })} ${
              last_triggered_at === null
                ? 'No events sent yet.'
                : html`Last attempt ${h(Ago, { at: last_triggered_at })}.`
            }
          </p>`
          : html`<p class="small">
            ${h(Badge, { tone: 'bad', children: html`${grouped(count)} failed` })} latest ${h(Ago, { at: latest.created_at })}${latest.last_error !== null && `: ${latest.last_error}`} <a href=${dashboard.delivery(id, latest.id)}>View</a>
          </p>`,
    })}
  `;
}
