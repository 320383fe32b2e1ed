import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Awaited, answerOf, useAnswer } from '#pages/browser/answer.ts';
import { ChangeForm, StatusMessage, useChange } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { SelectField, TextField } from '#pages/browser/fields.ts';
import { formEditor, NOTHING_CHANGED, versionOf } from '#pages/browser/form-editor.ts';
import { Card, Facts, type Tab, Tabs } from '#pages/browser/layout.ts';
import { Moment } from '#pages/browser/moment.ts';
import { CopyButton, Reference } from '#pages/browser/reference.ts';
import { setTitle } from '#pages/browser/show.ts';
import { dashboard, shownId } from '../addresses.ts';
import { api, idempotencyKey, type Payments } from '../api.ts';
import { openPage } from '../frame.ts';
import { useSecrets } from '../secret.ts';
import { useHasPermission } from '../signed-in.ts';
import { DeliveryPart, WebhookDeliveries } from './deliveries.ts';
import { RECEIVERS } from './receivers.ts';
import { WebhookActions } from './webhook-actions.ts';
import { EventsField, StoreResponsesField, WebhookState } from './webhook-parts.ts';

type Webhook = Payments['Webhook'];

interface ShownWebhook {
  readonly webhook: Webhook;
  readonly onDone: (said: string | VNode) => void;
  readonly onSecret: (secret: string) => void;
}

const id = shownId();
const path = { webhook_id: id };
const WEBHOOK = '/api/v1/webhooks/{webhook_id}';

/** Page of a webhook: its state, its deliveries, its settings, and how to verify requests. */
function WebhookPage(): VNode {
  const webhook = useAnswer(signal => api.GET(WEBHOOK, { params: { path }, signal }));
  const [said, setSaid] = useState<string | VNode>('');
  const secrets = useSecrets();
  const onSecret = (value: string) => secrets.add({ label: 'This is the new secret.', value });
  const delivery = new URLSearchParams(location.search).get('delivery');
  const onDone = (text: string | VNode) => {
    setSaid(text);
    webhook.reload();
  };
  return html`
    <p class="small"><a href=${dashboard.webhooks}>Webhooks</a></p>
    ${h(Awaited<{ data: Webhook }>, {
      loading: webhook,
      children: ({ data }) => html`
        ${h(Head, { webhook: data, onDone, onSecret })}
        ${secrets.view}
        ${h(StatusMessage, { children: said })}
        ${h(Disabled, { webhook: data })}
        ${
          delivery === null
            ? h(Parts, { webhook: data, onDone, onSecret })
            : h(DeliveryPart, { webhookId: id, id: delivery })
        }
      `,
    })}
  `;
}

function Head({ webhook, onDone, onSecret }: ShownWebhook): VNode {
  const mayChange = useHasPermission('admin');
  setTitle(webhook.url, 'Webhooks');
  return html`
    <h1><span class="clamped">${webhook.url}</span> ${h(WebhookState, { webhook })}</h1>
    ${mayChange && html`<div class="row">${h(WebhookActions, { webhook, onDone, onSecret })}</div>`}
  `;
}

/** Reason for the automatic disabling, with advice. */
function Disabled({ webhook: { disabled_reason, disabled_at } }: { webhook: Webhook }): VNode | null {
  const mayChange = useHasPermission('admin');
  if (disabled_reason === null || disabled_at === null) return null;
  return html`<div class="notice warning stack">
    <p>
      Ten or more events in a row failed at their first attempt, so nothing has been sent since${' '}
      ${h(Moment, { at: disabled_at })}. The deliveries below show the responses of the receiver.
    </p>
    <p>
      Fix the receiver, then ${mayChange ? 'choose Enable' : 'have an administrator enable the webhook'}, and use Replay
      for what was missed.
    </p>
  </div>`;
}

function Parts(shown: ShownWebhook): VNode {
  const tabs: readonly Tab[] = [
    { id: 'deliveries', label: 'Deliveries', content: () => h(WebhookDeliveries, { webhookId: id }) },
    { id: 'settings', label: 'Settings', content: () => h(Settings, { ...shown }) },
    { id: 'verify', label: 'How to verify', content: () => h(Verification, {}) },
  ];
  return h(Tabs, { label: 'Parts of the webhook', tabs });
}

function Settings({ webhook, onDone }: Omit<ShownWebhook, 'onSecret'>): VNode {
  const mayChange = useHasPermission('admin');
  const { previous_secret_expires_at: graceEnd, last_triggered_at: last } = webhook;
  return html`<div class="grid">
    ${mayChange && h(SettingsForm, { webhook, onDone })}
    ${h(Card, {
      title: 'Details',
      children: h(Facts, {
        rows: [
          ['Endpoint URL', webhook.url],
          ['Events', webhook.events.includes('*') ? 'all' : webhook.events.join(', ')],
          ['Description', webhook.description],
          ['Responses', webhook.store_responses ? 'the first 2 kB are kept' : 'not kept'],
          ['Delivered', webhook.success_count],
          ['With failures', webhook.failure_count],
          ['Last attempt', last === null ? 'none' : h(Moment, { at: last })],
          ['Old secret expires', graceEnd !== null && h(Moment, { at: graceEnd })],
          ['Created', h(Moment, { at: webhook.created_at })],
          ['Updated', h(Moment, { at: webhook.updated_at })],
          ['ID', h(Reference, { value: webhook.id, isWhole: true })],
        ],
      }),
    })}
  </div>`;
}

function SettingsForm({ webhook, onDone }: Omit<ShownWebhook, 'onSecret'>): VNode {
  const [url, setUrl] = useState(webhook.url);
  const [description, setDescription] = useState(webhook.description ?? '');
  const [events, setEvents] = useState<readonly Payments['Subscription'][]>(webhook.events);
  const [storesResponses, setStoresResponses] = useState(webhook.store_responses);
  const change = useChange();
  const [editor] = useState(() =>
    formEditor({
      opened: settingsOf(webhook),
      read: async () =>
        versionOf(await answerOf(api.GET(WEBHOOK, { params: { path } })), ({ data }) => settingsOf(data)),
      write: (body, etag) => {
        const params = { path, header: { 'Idempotency-Key': idempotencyKey(), 'If-Match': etag } };
        return answerOf(api.PATCH(WEBHOOK, { params, body }));
      },
    }),
  );
  const save = () =>
    change.run(async () => {
      const typed = {
        url: url.trim(),
        events: [...events],
        description: description.trim() || null,
        store_responses: storesResponses,
      };
      onDone((await editor.save(typed)) ? 'The webhook is updated.' : NOTHING_CHANGED);
    });
  return h(Card, {
    title: 'Edit',
    children: h(ChangeForm, {
      label: 'Webhook',
      action: 'Save changes',
      change,
      onSubmit: save,
      children: html`
        ${h(TextField, { label: 'Endpoint URL', param: 'url', value: url, isRequired: true, onValue: setUrl })}
        ${h(EventsField, { events, onEvents: setEvents })}
        ${h(TextField, {
          label: 'Description',
          param: 'description',
          value: description,
          onValue: setDescription,
        })}
        ${h(StoreResponsesField, { isChecked: storesResponses, onChecked: setStoresResponses })}
      `,
    }),
  });
}

function settingsOf({ url, events, description, store_responses }: Webhook) {
  return { url, events, description, store_responses };
}

const LANGUAGES = RECEIVERS.map(({ language }) => [language, language] as const);

/** Instructions for verifying signatures. */
function Verification(): VNode {
  const [language, setLanguage] = useState('Node');
  const receiver = RECEIVERS.find(one => one.language === language);
  return h(Card, {
    title: 'Verify the signature of every request',
    children: html`
    <p>
      <code>X-Service-Signature</code> is the HMAC-SHA256 of the body’s bytes, as they came, in hex. The key is the whole
      secret, <code>whsec_</code> included. During a rotation, <code>X-Service-Signature-Previous</code> is the signature
      by the old secret.
    </p>
    <ul>
      <li>Every event arrives at least once, in no guaranteed order: <code>id</code> in the body identifies repetitions.</li>
      <li>Answer 2xx within 30 seconds, and do the work afterwards.</li>
      <li>Anything else is tried again after 1 minute, 10 minutes and 1 hour.</li>
      <li>
        Libraries for Standard Webhooks work too, and also refuse requests that are old: <code>webhook-id</code>,${' '}
        <code>webhook-timestamp</code> and <code>webhook-signature</code> are there.
      </li>
    </ul>
    ${h(SelectField<string>, {
      label: 'Language',
      param: 'language',
      value: language,
      options: LANGUAGES,
      onValue: setLanguage,
    })}
    ${
      receiver !== undefined &&
      html`<p class="reference">
          <code>WEBHOOK_SECRET=whsec_… ${receiver.start}</code>
          ${h(CopyButton, { text: receiver.code, label: `Copy ${receiver.file}` })}
        </p>
        <pre tabindex="0">${receiver.code}</pre>`
    }
  `,
  });
}

openPage('Webhook', WebhookPage);
