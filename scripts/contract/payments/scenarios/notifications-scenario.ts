import { child, type JsonObject } from '#contract/contracts/document.ts';
import type { Reply, Tester } from '../tester.ts';

/** Address that cannot receive mail (RFC 6761). */
const ADDRESS = 'contract-run@receiver.example';
const REFUSED = '400 invalid_field_value';

/**
 * Changes the notification settings of the key's mode, tests both channels, and restores the settings. A linked chat
 * stays linked, because only its owner could link it again; unlinking is then not tested.
 */
export async function notificationsStory(tester: Tester): Promise<void> {
  const before = await settingsOf(tester);
  try {
    await mails(tester, before);
    await messages(tester, before);
  } finally {
    await putBack(tester, before);
  }
}

async function mails(tester: Tester, before: JsonObject): Promise<void> {
  const update = (body: JsonObject, expected: string) =>
    tester.ask('updateNotificationSettings', { body }, [expected]);
  const off = await update({ email_address: null, email_enabled: false }, '200');
  const { email_address, email_enabled, enabled_events } = child(off.body, 'data');
  if (email_address !== null || email_enabled !== false || !isSame(enabled_events, before.enabled_events)) {
    tester.report('updateNotificationSettings: changes other fields than requested');
  }
  withoutPlace(tester, 'sendTestEmail', await tester.ask('sendTestEmail', {}, [REFUSED]));
  await update({ email_enabled: true }, `${REFUSED} email_enabled`);
  await update({ enabled_events: ['checkout.expired'] }, `${REFUSED} enabled_events.0`);

  const none = await update({ enabled_events: [], email_address: ADDRESS, email_enabled: true }, '200');
  if (!isSame(child(none.body, 'data').enabled_events, [])) {
    tester.report('updateNotificationSettings: an empty list of events is not kept');
  }
  const read = await tester.ask('getNotificationSettings', {}, ['200']);
  if (read.text !== none.text)
    tester.report('getNotificationSettings: differs from the response to the change');
  // A mail server may refuse the address, and the limit is three per hour.
  const tested = await tester.ask('sendTestEmail', {}, ['200', REFUSED, '429 rate_limit_exceeded']);
  if (tested.status === 200 && child(tested.body, 'data').sent_to !== ADDRESS) {
    tester.report('sendTestEmail: it was sent to another address');
  }
}

async function messages(tester: Tester, { messenger_chat_id, messenger_enabled }: JsonObject): Promise<void> {
  // Only the operator can add a messenger.
  const link = await tester.ask('createMessengerLink', {}, ['201', REFUSED]);
  withoutPlace(tester, 'createMessengerLink', link);
  const isOn = messenger_chat_id !== null && messenger_enabled === true;
  const tested = await tester.ask('sendTestMessage', {}, isOn ? ['200', REFUSED] : [REFUSED]);
  withoutPlace(tester, 'sendTestMessage', tested);
  if (messenger_chat_id !== null) return;
  const enabling = { body: { messenger_enabled: true } };
  await tester.ask('updateNotificationSettings', enabling, [`${REFUSED} messenger_enabled`]);
  const { body } = await tester.ask('deleteMessengerLink', {}, ['200']);
  const { messenger_chat_id: chat, messenger_enabled: enabled } = child(body, 'data');
  if (chat !== null || enabled !== false) tester.report('deleteMessengerLink: the messenger is still linked');
}

async function putBack(tester: Tester, before: JsonObject): Promise<void> {
  const { email_address = null, email_enabled = false, enabled_events = [] } = before;
  const body = { email_address, email_enabled, enabled_events };
  await tester.ask('updateNotificationSettings', { body }, ['200']);
  const after = await settingsOf(tester);
  if (!isSame({ ...after, updated_at: before.updated_at }, before)) {
    tester.report('updateNotificationSettings: the settings could not be put back');
  }
}

async function settingsOf(tester: Tester): Promise<JsonObject> {
  const { body } = await tester.ask('getNotificationSettings', {}, ['200']);
  return child(body, 'data');
}

/** A refusal for a reason outside the request must not name a field. */
function withoutPlace(tester: Tester, id: string, { outcome }: Reply): void {
  if (outcome.startsWith(`${REFUSED} `)) tester.report(`${id}: ${outcome}, for a request without fields`);
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
