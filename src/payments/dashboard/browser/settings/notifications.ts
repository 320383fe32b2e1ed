import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Awaited, answerOf, ProblemNotice, useAnswer } from '#pages/browser/answer.ts';
import { ChangeForm, StatusMessage, useChange } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { CheckField, TextField } from '#pages/browser/fields.ts';
import { formEditor, NOTHING_CHANGED, versionOf } from '#pages/browser/form-editor.ts';
import { Card, Facts } from '#pages/browser/layout.ts';
import { Moment } from '#pages/browser/moment.ts';
import { Problem } from '#pages/browser/problem.ts';
import { api, idempotencyKey, type Payments } from '../api.ts';
import { openPage } from '../frame.ts';
import { useHasPermission } from '../signed-in.ts';
import { MessengerCard } from './messenger.ts';

type Settings = Payments['NotificationSettings'];
type Event = Payments['NotificationEvent'];

const EVENTS: readonly (readonly [Event, string])[] = [
  ['payment.completed', 'A payment was confirmed'],
  ['payment.failed', 'A payment failed'],
  ['checkout.completed', 'A checkout was paid in full'],
];
const ATTENTION =
  'Money needs a decision: paid late, too much, in part or without a checkout, or a refund failed';
/** Shows a chat soon after it was linked in another window. */
const RENEW_MS = 5_000;

/** Page of notification settings: events, e-mail and messenger. */
function NotificationsPage(): VNode {
  const mayChange = useHasPermission('admin');
  const [said, setSaid] = useState('');
  const settings = useAnswer(signal => api.GET('/api/v1/notifications', { signal }), [], {
    everyMs: RENEW_MS,
  });
  const onDone = (text: string) => {
    setSaid(text);
    settings.reload();
  };
  return html`
    <h1>Notifications</h1>
    ${h(StatusMessage, { children: said })}
    ${h(Awaited<{ data: Settings }>, {
      loading: settings,
      children: ({ data }) => html`
        <div class="grid">
          ${h(MailCard, { settings: data, mayChange, onDone })}
          ${h(MessengerCard, { settings: data, mayChange, onDone })}
          ${!mayChange && h(Shown, { settings: data })}
        </div>
        <p class="small">Updated ${h(Moment, { at: data.updated_at })}</p>
      `,
    })}
  `;
}

function Shown({ settings }: { settings: Settings }): VNode {
  const chosen = EVENTS.filter(([event]) => settings.enabled_events.includes(event)).map(([, text]) => text);
  const texts = settings.attention ? [...chosen, ATTENTION] : chosen;
  return h(Card, {
    title: 'Events',
    children:
      texts.length === 0
        ? html`<p>No events selected.</p>`
        : html`<ul>${texts.map(text => html`<li>${text}</li>`)}</ul>`,
  });
}

function MailCard({
  settings,
  mayChange,
  onDone,
}: {
  settings: Settings;
  mayChange: boolean;
  onDone: (said: string) => void;
}): VNode {
  if (mayChange) return h(MailForm, { settings, onDone });
  return h(Card, {
    title: 'Email',
    children: h(Facts, {
      rows: [
        ['Status', settings.email_enabled ? 'on' : 'off'],
        ['Email address', settings.email_address ?? 'none'],
      ],
    }),
  });
}

const ADDRESS = { param: 'email_address' };

function mailSettingsOf(settings: Settings) {
  const { email_address, email_enabled, enabled_events, attention, customer_emails } = settings;
  return { email_address, email_enabled, enabled_events, attention, customer_emails };
}

function MailForm({ settings, onDone }: { settings: Settings; onDone: (said: string) => void }): VNode {
  const [address, setAddress] = useState(settings.email_address ?? '');
  const [isOn, setOn] = useState(settings.email_enabled);
  const [events, setEvents] = useState<readonly Event[]>(settings.enabled_events);
  const [attention, setAttention] = useState(settings.attention);
  const [mailsCustomers, setMailsCustomers] = useState(settings.customer_emails);
  const change = useChange();
  const test = useChange();
  const [editor] = useState(() =>
    formEditor({
      opened: mailSettingsOf(settings),
      read: async () =>
        versionOf(await answerOf(api.GET('/api/v1/notifications')), ({ data }) => mailSettingsOf(data)),
      write: (body, etag) => {
        const params = { header: { 'Idempotency-Key': idempotencyKey(), 'If-Match': etag } };
        return answerOf(api.PATCH('/api/v1/notifications', { params, body }));
      },
    }),
  );
  const save = () =>
    change.run(async () => {
      if (isOn && address.trim() === '') throw new Problem('Enter an email address.', ADDRESS);
      const isSaved = await editor.save({
        email_address: address.trim() || null,
        email_enabled: isOn,
        enabled_events: [...events],
        attention,
        customer_emails: mailsCustomers,
      });
      onDone(isSaved ? 'The settings are saved.' : NOTHING_CHANGED);
    });
  const sendTest = () =>
    test.run(async () => {
      const params = { header: { 'Idempotency-Key': idempotencyKey() } };
      const { data } = await answerOf(api.POST('/api/v1/notifications/test/email', { params }));
      onDone(`A test email was sent to ${data.data.sent_to}.`);
    });
  const turn = (event: Event, isChecked: boolean) =>
    setEvents(isChecked ? [...events, event] : events.filter(one => one !== event));
  return h(Card, {
    title: 'Email and events',
    children: html`
      ${h(ChangeForm, {
        label: 'Email and events',
        action: 'Save',
        change,
        onSubmit: save,
        children: html`
          ${h(TextField, {
            label: 'Email address',
            ...ADDRESS,
            type: 'email',
            value: address,
            hint: 'Also used to tell you when a webhook is disabled.',
            onValue: setAddress,
          })}
          ${h(CheckField, {
            label: 'Send emails about the events below',
            isChecked: isOn,
            onChecked: setOn,
          })}
          <fieldset class="part">
            <legend>Events, for email and messenger</legend>
            ${EVENTS.map(([event, text]) =>
              h(CheckField, {
                key: event,
                label: text,
                isChecked: events.includes(event),
                onChecked: (isChecked: boolean) => turn(event, isChecked),
              }),
            )}
            ${h(CheckField, {
              label: ATTENTION,
              isChecked: attention,
              onChecked: setAttention,
            })}
          </fieldset>
          ${h(CheckField, {
            label:
              'Send receipts to payers, and emails about late, partial and too large payments, refunds, and checkouts that sold out',
            isChecked: mailsCustomers,
            onChecked: setMailsCustomers,
          })}
        `,
      })}
      ${
        settings.email_enabled &&
        html`<div>
          <button type="button" disabled=${test.isBusy} onClick=${sendTest}>Send test email</button>
        </div>`
      }
      ${test.problem !== undefined && h(ProblemNotice, { problem: test.problem })}
    `,
  });
}

openPage('Notifications', NotificationsPage);
