import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { answerOf } from '#pages/browser/answer.ts';
import { DialogButton } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { SelectField, TextField } from '#pages/browser/fields.ts';
import { dashboard } from '../addresses.ts';
import { api, idempotencyKey, type Payments } from '../api.ts';
import { DELIVERY_TYPES } from './webhook-parts.ts';

type Webhook = Payments['Webhook'];

interface ActionProps {
  readonly webhook: Webhook;
  /** Shows the outcome, and reloads the webhook. */
  readonly onDone: (said: string | VNode) => void;
}

/** Actions on a webhook, for keys with the permission. */
export function WebhookActions({
  onSecret,
  ...props
}: ActionProps & { onSecret: (secret: string) => void }): VNode {
  return html`
    ${h(Test, { ...props })}
    ${h(Replay, { ...props })}
    ${h(Rotate, { ...props, onSecret })}
    ${h(Switch, { ...props })}
    ${h(Delete, { ...props })}
  `;
}

/** Parameters of a change of one webhook. */
function paramsOf({ id }: Webhook) {
  return { path: { webhook_id: id }, header: { 'Idempotency-Key': idempotencyKey() } };
}

function Test({ webhook, onDone }: ActionProps): VNode {
  const [event, setEvent] = useState<Payments['DeliveryEventType']>('test.ping');
  const send = async () => {
    const params = paramsOf(webhook);
    const { data } = await answerOf(
      api.POST('/api/v1/webhooks/{webhook_id}/test', { params, body: { event } }),
    );
    const { success, response_code: code } = data.data;
    const outcome = code === null ? 'did not respond' : `responded ${code}`;
    onDone(`${success ? 'Test event delivered' : 'Test event failed'}: the receiver ${outcome}.`);
  };
  return h(DialogButton, {
    label: 'Send test event',
    action: 'Send',
    onConfirm: send,
    children: h(SelectField<Payments['DeliveryEventType']>, {
      label: 'Event',
      param: 'event',
      value: event,
      options: DELIVERY_TYPES,
      hint: 'Every type except test.ping contains sample data. The request says X-Service-Test: true.',
      onValue: setEvent,
    }),
  });
}

/** Button for a replay. `from` is the proposed start, in ISO 8601. */
function Replay({ webhook, onDone, from }: ActionProps & { readonly from?: string | null }): VNode {
  const [since, setSince] = useState(from == null ? '' : localTime(from));
  const replay = async () => {
    const body = { since: new Date(since).toISOString() };
    const params = paramsOf(webhook);
    const { data } = await answerOf(api.POST('/api/v1/webhooks/{webhook_id}/replay', { params, body }));
    const { count, has_more } = data.data;
    onDone(`${has_more ? 'More than ' : ''}${count} events are sent again, in the background.`);
  };
  return h(DialogButton, {
    label: 'Replay',
    title: 'Replay missed events',
    action: 'Replay',
    onConfirm: replay,
    children: html`
      <p>Events since this time that were not delivered are sent again.</p>
      ${h(TextField, {
        label: 'Since',
        param: 'since',
        type: 'datetime-local',
        value: since,
        isRequired: true,
        hint: 'In your time zone, at most 30 days ago.',
        onValue: setSince,
      })}
    `,
  });
}

/** Value of an input for local time, which refuses seconds. Rounded down, so that no event is left out. */
function localTime(time: string): string {
  const date = new Date(time);
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length);
}

const GRACES = [
  ['0', 'immediately'],
  ['3600', 'in one hour'],
  ['86400', 'in one day'],
  ['604800', 'in one week'],
] as const;

function Rotate({ webhook, onDone, onSecret }: ActionProps & { onSecret: (secret: string) => void }): VNode {
  const [grace, setGrace] = useState('86400');
  const rotate = async () => {
    const body = { grace_period_seconds: Number(grace) };
    const operation = '/api/v1/webhooks/{webhook_id}/rotate-secret';
    const { data } = await answerOf(api.POST(operation, { params: paramsOf(webhook), body }));
    onSecret(data.data.secret);
    onDone('');
  };
  return h(DialogButton, {
    label: 'Rotate secret',
    title: 'Rotate the secret?',
    onConfirm: rotate,
    children: html`
      <p>
        Deliveries are signed with a new secret. For the time that you choose, a second header,${' '}
        <code>X-Service-Signature-Previous</code>, has the signature by the old secret, so that receivers can switch one by
        one.
      </p>
      ${h(SelectField<string>, {
        label: 'Old secret expires',
        param: 'grace_period_seconds',
        value: grace,
        options: GRACES,
        onValue: setGrace,
      })}
    `,
  });
}

function Switch({ webhook, onDone }: ActionProps): VNode {
  const { is_active, disabled_at } = webhook;
  const turn = async () => {
    const body = { is_active: !is_active };
    await answerOf(api.PATCH('/api/v1/webhooks/{webhook_id}', { params: paramsOf(webhook), body }));
    onDone(is_active ? 'The webhook is disabled.' : h(ActiveAgain, { webhook, onDone, from: disabled_at }));
  };
  // One element for both states, so that the focus returns to it.
  return h(DialogButton, {
    label: is_active ? 'Disable' : 'Enable',
    title: is_active ? 'Disable this webhook?' : 'Enable this webhook?',
    tone: is_active ? 'plain' : 'primary',
    onConfirm: turn,
    children: html`
      <p>
        ${
          is_active
            ? 'No events are sent until it is enabled again. Missed events can be replayed afterwards.'
            : 'New events and held deliveries are sent from now on. Missed events can be replayed afterwards.'
        }
      </p>
    `,
  });
}

/** Outcome of enabling, with the offer to send the events of the time before. */
function ActiveAgain(props: ActionProps & { readonly from: string | null }): VNode {
  return html`<span class="row">
    The webhook is active again. Events from the time while it was off are sent by a replay only. ${h(Replay, { ...props })}
  </span>`;
}

function Delete({ webhook }: ActionProps): VNode {
  const remove = async () => {
    const params = { path: { webhook_id: webhook.id } };
    await answerOf(api.DELETE('/api/v1/webhooks/{webhook_id}', { params }));
    location.assign(dashboard.webhooks);
  };
  return h(DialogButton, {
    label: 'Delete',
    title: 'Delete this webhook?',
    tone: 'danger',
    onConfirm: remove,
    children: html`
      <p>No more events are sent to <code>${webhook.url}</code>, and its list of deliveries is deleted.</p>
    `,
  });
}
