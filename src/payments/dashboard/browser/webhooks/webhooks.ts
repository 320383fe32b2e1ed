import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { answerOf } from '#pages/browser/answer.ts';
import { DialogButton } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { TextField } from '#pages/browser/fields.ts';
import { Card } from '#pages/browser/layout.ts';
import { Ago } from '#pages/browser/moment.ts';
import { dashboard } from '../addresses.ts';
import { api, idempotencyKey, type Payments } from '../api.ts';
import { openPage } from '../frame.ts';
import { numberedList, pageQuery } from '../paging.ts';
import { useSecrets } from '../secret.ts';
import { useHasPermission } from '../signed-in.ts';
import { EventsField, WebhookState } from './webhook-parts.ts';

type Webhook = Payments['Webhook'];

/** Page of all webhooks with their delivery counts. */
function WebhooksPage(): VNode {
  const mayChange = useHasPermission('admin');
  const [added, setAdded] = useState<Payments['WebhookWithSecret']>();
  const secrets = useSecrets();
  const onAdded = (webhook: Payments['WebhookWithSecret']) => {
    setAdded(webhook);
    secrets.add({
      label: `This is the secret of ${webhook.url}.`,
      value: webhook.secret,
      next: html`<p><a href=${`${dashboard.webhook(webhook.id)}?tab=verify`} target="_blank">How to verify events</a></p>`,
    });
  };
  return html`
    <div class="title">
      <h1>Webhooks</h1>
      ${mayChange && h(AddWebhook, { onAdded })}
    </div>
    ${secrets.view}
    ${h(Card, {
      children: numberedList({
        label: 'Webhooks',
        inputs: [added?.id],
        load: (page, signal) => api.GET('/api/v1/webhooks', { params: { query: pageQuery(page) }, signal }),
        keyOf: ({ id }: Webhook) => id,
        empty: 'No webhooks yet. Add one, and your server is told of every payment as it happens.',
        columns: [
          {
            name: 'Endpoint URL',
            cell: ({ id, url }: Webhook) => html`<a class="clipped" href=${dashboard.webhook(id)}>${url}</a>`,
          },
          { name: 'Status', cell: (webhook: Webhook) => h(WebhookState, { webhook }) },
          { name: 'Delivered', isNumber: true, cell: ({ success_count }: Webhook) => success_count },
          { name: 'With failures', isNumber: true, cell: ({ failure_count }: Webhook) => failure_count },
          {
            name: 'Last attempt',
            cell: ({ last_triggered_at: at }: Webhook) => (at === null ? 'none' : h(Ago, { at })),
          },
          {
            name: 'Events',
            cell: ({ events }: Webhook) => (events.includes('*') ? 'all' : events.join(', ')),
          },
          {
            name: 'Description',
            cell: ({ description }: Webhook) => html`<span class="clipped">${description}</span>`,
          },
        ],
      }),
    })}
  `;
}

function AddWebhook({ onAdded }: { onAdded: (webhook: Payments['WebhookWithSecret']) => void }): VNode {
  const [url, setUrl] = useState('');
  const [description, setDescription] = useState('');
  const [events, setEvents] = useState<readonly Payments['Subscription'][]>(['*']);
  const add = async () => {
    const body = { url: url.trim(), events: [...events], description: description.trim() || null };
    const params = { header: { 'Idempotency-Key': idempotencyKey() } };
    const { data } = await answerOf(api.POST('/api/v1/webhooks', { params, body }));
    onAdded(data.data);
    setUrl('');
    setDescription('');
  };
  return h(DialogButton, {
    label: 'Add webhook',
    title: 'Add a webhook',
    action: 'Add',
    tone: 'primary',
    onConfirm: add,
    children: html`
      ${h(TextField, {
        label: 'Endpoint URL',
        param: 'url',
        value: url,
        isRequired: true,
        placeholder: 'https://shop.example/hook',
        hint: 'An https URL that is reachable from the internet.',
        onValue: setUrl,
      })}
      ${h(EventsField, { events, onEvents: setEvents })}
      ${h(TextField, {
        label: 'Description',
        param: 'description',
        value: description,
        onValue: setDescription,
      })}
    `,
  });
}

openPage('Webhooks', WebhooksPage);
