import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Awaited, useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { Badge, type Tone } from '#pages/browser/layout.ts';
import { Ago } from '#pages/browser/moment.ts';
import { dashboard } from '../addresses.ts';
import { api, type Payments } from '../api.ts';

type Delivery = Payments['WebhookDelivery'];
type Webhook = Payments['Webhook'];

const WEBHOOKS = { page: 1, limit: 100 } as const;
/** An event has one delivery per webhook. */
const DELIVERIES = { page: 1, limit: 1 } as const;

/** Deliveries of an event, requested when the reader opens the list. */
export function EventDeliveries({ eventId }: { eventId: string }): VNode {
  const [isOpen, setOpen] = useState(false);
  return html`<details onToggle=${(event: Event & { currentTarget: HTMLDetailsElement }) => setOpen(event.currentTarget.open)}>
    <summary>Deliveries</summary>
    ${isOpen && h(ByWebhook, { eventId })}
  </details>`;
}

function ByWebhook({ eventId }: { eventId: string }): VNode {
  const webhooks = useAnswer(signal => api.GET('/api/v1/webhooks', { params: { query: WEBHOOKS }, signal }));
  return h(Awaited<Payments['WebhookListAnswer']>, {
    loading: webhooks,
    children: ({ data }) =>
      data.length === 0
        ? html`<p class="small">No webhook receives events.</p>`
        : html`<ul class="plain stack">
          ${data.map(webhook => html`<li key=${webhook.id}>${h(ToWebhook, { webhook, eventId })}</li>`)}
        </ul>`,
  });
}

function ToWebhook({ webhook, eventId }: { webhook: Webhook; eventId: string }): VNode {
  const deliveries = useAnswer(
    signal =>
      api.GET('/api/v1/webhooks/{webhook_id}/deliveries', {
        params: { path: { webhook_id: webhook.id }, query: { event_id: eventId, ...DELIVERIES } },
        signal,
      }),
    [webhook.id, eventId],
  );
  return html`
    <a href=${dashboard.webhook(webhook.id)}>${webhook.url}</a>
    ${h(Awaited<Payments['WebhookDeliveryListAnswer']>, {
      loading: deliveries,
      children: ({ data: [delivery] }) =>
        delivery === undefined
          ? html`<p class="small">This event was not sent to this webhook.</p>`
          : h(DeliveryState, { delivery }),
    })}
  `;
}

const STATES: Readonly<Record<Payments['DeliveryStatus'], readonly [Tone, string]>> = {
  success: ['good', 'Delivered'],
  pending: ['busy', 'Pending'],
  failed: ['bad', 'Failed'],
};

function DeliveryState({ delivery }: { delivery: Delivery }): VNode {
  const { status, attempts, response_code, last_error, next_attempt_at } = delivery;
  const [tone, text] = STATES[status];
  return html`<p class="small">
    ${h(Badge, { tone, children: text })} ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}${response_code !== null && `, response ${response_code}`}${last_error !== null && `: ${last_error}`}
    ${next_attempt_at !== null && html` Next retry ${h(Ago, { at: next_attempt_at })}.`}
  </p>`;
}
