import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { answerOf, ProblemNotice } from '#pages/browser/answer.ts';
import { DialogButton, useChange } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { Badge, Card, Facts } from '#pages/browser/layout.ts';
import { Moment } from '#pages/browser/moment.ts';
import { webAddress } from '#pages/browser/reference.ts';
import { api, idempotencyKey, type Payments } from '../api.ts';
import { QrCode } from '../qr-code.ts';

interface MessengerProps {
  readonly settings: Payments['NotificationSettings'];
  readonly mayChange: boolean;
  readonly onDone: (said: string) => void;
}

/** Linked chat for notifications, or the button to link one. */
export function MessengerCard(props: MessengerProps): VNode {
  const { settings, mayChange } = props;
  const { messenger_chat_id: chat, messenger_username: user, messenger_enabled: isOn } = settings;
  return h(Card, {
    title: 'Messenger',
    children: html`
      ${h(Facts, {
        rows: [
          [
            'Status',
            chat === null
              ? h(Badge, { children: 'Not linked' })
              : h(Badge, { tone: isOn ? 'good' : 'plain', children: isOn ? 'On' : 'Linked, off' }),
          ],
          ['Chat', chat !== null && (user === null ? chat : `@${user}`)],
        ],
      })}
      ${mayChange && (chat === null ? h(LinkChat, {}) : h(Linked, { ...props }))}
    `,
  });
}

/** URL that links a chat, also as a QR code for a phone with the messenger. */
function LinkChat(): VNode {
  const [link, setLink] = useState<Payments['MessengerLink']>();
  const change = useChange();
  const begin = () =>
    change.run(async () => {
      const params = { header: { 'Idempotency-Key': idempotencyKey() } };
      const { data } = await answerOf(api.POST('/api/v1/notifications/messenger/link', { params }));
      setLink(data.data);
    });
  const action = link === undefined ? 'Link a chat' : 'Create a new link';
  return html`
    <p>The bot sends the selected events to one private chat in Telegram.</p>
    <div><button type="button" disabled=${change.isBusy} onClick=${begin}>${action}</button></div>
    ${change.problem !== undefined && h(ProblemNotice, { problem: change.problem })}
    ${
      link !== undefined &&
      html`<p role="status">
        Scan the code, or open <a href=${webAddress(link.link_url)} target="_blank" rel="noopener noreferrer">the bot</a>,
        and press Start, before ${h(Moment, { at: link.expires_at })}. This page says when the chat is linked.
      </p>
      ${h(QrCode, { text: link.link_url, label: 'QR code of the link to the bot' })}`
    }
  `;
}

function Linked({ settings: { messenger_enabled: isOn }, onDone }: MessengerProps): VNode {
  const change = useChange();
  const params = { header: { 'Idempotency-Key': idempotencyKey() } };
  const turn = () =>
    change.run(async () => {
      const body = { messenger_enabled: !isOn };
      await answerOf(api.PATCH('/api/v1/notifications', { params, body }));
      onDone(isOn ? 'Messages are off.' : 'Messages are on.');
    });
  const test = () =>
    change.run(async () => {
      const { data } = await answerOf(api.POST('/api/v1/notifications/test/messenger', { params }));
      onDone(`A test message was sent to ${data.data.sent_to}.`);
    });
  const unlink = async () => {
    await answerOf(api.DELETE('/api/v1/notifications/messenger'));
    onDone('The chat is unlinked.');
  };
  return html`
    <div class="row">
      <button type="button" disabled=${change.isBusy} onClick=${turn}>${isOn ? 'Turn off' : 'Turn on'}</button>
      ${isOn && html`<button type="button" disabled=${change.isBusy} onClick=${test}>Send test message</button>`}
      ${h(DialogButton, {
        label: 'Unlink',
        title: 'Unlink this chat?',
        tone: 'danger',
        onConfirm: unlink,
        children: html`
          <p>It receives no more messages. A chat can be linked again at any time.</p>
        `,
      })}
    </div>
    ${change.problem !== undefined && h(ProblemNotice, { problem: change.problem })}
  `;
}
