import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { countText } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { Badge, Card } from '#pages/browser/layout.ts';
import { Ago } from '#pages/browser/moment.ts';
import { dashboard } from '../addresses.ts';
import type { DashboardOverview } from '../api.ts';

type Webhooks = DashboardOverview['webhooks'];

/** Unmatched transfers, and the state of the webhooks. */
export function Health({ unmatched, webhooks }: Pick<DashboardOverview, 'unmatched' | 'webhooks'>): VNode {
  return h(Card, {
    title: 'Needs attention',
    aside: html`<a href=${dashboard.webhooks}>All webhooks</a>`,
    children: html`
      ${
        unmatched === 0
          ? html`<p>${h(Badge, { tone: 'good', children: 'None' })} Every transfer is matched to a checkout.</p>`
          : html`<p>
            ${h(Badge, { tone: 'warning', children: countText(unmatched) })} <a href=${`${dashboard.unmatched}?status=open`}>${unmatched === 1 ? 'unmatched transfer' : 'unmatched transfers'}</a>
          </p>`
      }
      ${
        webhooks.length === 0
          ? html`<p class="small">
            No webhook receives your events yet. <a href=${dashboard.webhooks}>Add a webhook</a>.
          </p>`
          : html`<ul class="plain stack">
            ${webhooks.map(one => html`<li key=${one.webhook.id}>${h(Deliveries, one)}</li>`)}
          </ul>`
      }
    `,
  });
}

/** State of a webhook, with the number of its failed deliveries. */
function Deliveries({ webhook, failed }: Webhooks[number]): VNode {
  const { id, url, is_active, disabled_reason, last_triggered_at } = webhook;
  const [latest] = failed.data;
  return html`
    <a href=${dashboard.webhook(id)}>${url}</a>
    ${
      !is_active &&
      html` ${h(Badge, {
        tone: 'bad',
        children: disabled_reason === null ? 'Disabled' : 'Disabled after failures',
      })}`
    }
    ${
      latest === undefined
        ? html`<p class="small">
          ${h(Badge, { tone: 'good', children: 'No failed deliveries' })} ${
            last_triggered_at === null
              ? 'No events sent yet.'
              : html`Last attempt ${h(Ago, { at: last_triggered_at })}.`
          }
        </p>`
        : html`<p class="small">
          ${h(Badge, { tone: 'bad', children: html`${countText(failed.total_count)} failed` })} latest ${h(Ago, { at: latest.created_at })}${latest.last_error !== null && `: ${latest.last_error}`} <a href=${dashboard.delivery(id, latest.id)}>View</a>
        </p>`
    }
  `;
}
