import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { rowsOf } from '#db/query.ts';
import { notificationStore } from '#payments/notifications/store/notification-store.ts';
import { retentionWorker } from '#payments/retention.ts';
import { botError, startBotApi } from '../../lab/bot-api.ts';
import { record, text } from '../../lab/json.ts';
import { eachDatabase, sqliteDatabase } from '../../support/databases.ts';
import { everythingOn } from '../../support/notification-records.ts';
import {
  type ApiAnswer,
  errorOf,
  type Merchant,
  type PaymentsApi,
  startPaymentsApi,
} from '../../support/payments-api.ts';
import { startSmtpReceiver } from '../../support/smtp-receiver.ts';
import { dataOf } from '../../support/webhooks-api.ts';

const PATH = '/api/v1/notifications';
const LINK = `${PATH}/messenger/link`;
const MAIL_TEST = `${PATH}/test/email`;
const MESSAGE_TEST = `${PATH}/test/messenger`;
const HOUR_MS = 3_600_000;
const ALL_EVENTS = ['payment.completed', 'payment.failed', 'checkout.completed'];

const receiver = await startSmtpReceiver();
const bot = await startBotApi();
afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
  await bot[Symbol.asyncDispose]();
});

eachDatabase('notifications', databases => {
  let api: PaymentsApi;
  let shop: Merchant;

  beforeAll(async () => {
    api = await startPaymentsApi(await databases.create('payments'), {
      mail: { smtp: receiver.url, from: 'pay@shop.example' },
      messenger: { token: bot.token, apiRoot: bot.url },
    });
  });
  afterAll(() => api[Symbol.asyncDispose]());
  beforeEach(async () => {
    receiver.behaviour = {};
    receiver.mails.length = 0;
    shop = await api.merchant();
  });

  const save = (changes: Parameters<typeof everythingOn>[1] = {}) =>
    notificationStore(api.db).save(everythingOn(shop.owner, { updatedAt: api.clock.now(), ...changes }));

  test('GET /notifications answers the settings object, with everything off at first', async () => {
    const { status, body } = await shop.get(PATH);

    expect([status, body]).toEqual([
      200,
      {
        success: true,
        data: {
          email_enabled: false,
          email_address: null,
          messenger_enabled: false,
          messenger_chat_id: null,
          messenger_username: null,
          enabled_events: ALL_EVENTS,
          attention: true,
          customer_emails: false,
          updated_at: '2026-05-04T12:00:00.000Z',
        },
      },
    ]);
  });

  test('GET /notifications needs read, all others need admin', async () => {
    const [reader, writer] = [
      await shop.withKey({ permission: 'read' }),
      await shop.withKey({ permission: 'write' }),
    ];

    expect((await reader.get(PATH)).status).toBe(200);
    for (const refused of [
      await writer.patch(PATH, { email_enabled: false }),
      await writer.post(LINK),
      await writer.delete(`${PATH}/messenger`),
      await writer.post(MAIL_TEST),
      await writer.post(MESSAGE_TEST),
    ]) {
      expect(errorOf(refused)).toBe('403 insufficient_permissions');
    }
  });

  test('PATCH /notifications changes what is given and answers the updated settings object', async () => {
    await save({ messengerEnabled: false });
    api.clock.advance(5_000);

    const answer = await shop.patch(PATH, {
      email_address: 'new@books.example',
      messenger_enabled: true,
      enabled_events: ['payment.failed', 'payment.failed'],
      attention: false,
      customer_emails: true,
    });

    expect(answer.status).toBe(200);
    expect(dataOf(answer)).toEqual({
      email_enabled: true,
      email_address: 'new@books.example',
      messenger_enabled: true,
      messenger_chat_id: '5092331',
      messenger_username: 'cornerbooks',
      enabled_events: ['payment.failed'],
      attention: false,
      customer_emails: true,
      updated_at: new Date(api.clock.now()).toISOString(),
    });
    expect((await shop.get(PATH)).body).toEqual(answer.body);
  });

  test('PATCH /notifications with an empty enabled_events enables none', async () => {
    const answer = await shop.patch(PATH, { enabled_events: [] });

    expect(dataOf(answer)).toMatchObject({ enabled_events: [] });
  });

  test.each([
    [{}, '400 no_updates_provided'],
    [{ unknown: true }, '400 no_updates_provided'],
    [{ email_enabled: true }, '400 invalid_field_value email_enabled'],
    [{ email_enabled: true, email_address: null }, '400 invalid_field_value email_enabled'],
    [{ email_enabled: 'yes' }, '400 invalid_field_value email_enabled'],
    [{ email_address: 'nobody' }, '400 invalid_field_value email_address'],
    [{ email_address: 'a@b.example, c@d.example' }, '400 invalid_field_value email_address'],
    [{ email_address: 'a@b.example\r\nBcc: c@d.example' }, '400 invalid_field_value email_address'],
    [{ email_address: `${'a'.repeat(250)}@b.example` }, '400 invalid_field_value email_address'],
    [{ messenger_enabled: true }, '400 invalid_field_value messenger_enabled'],
    [{ enabled_events: ['*'] }, '400 invalid_field_value enabled_events.0'],
    [{ enabled_events: ['payment.failed', 'checkout.expired'] }, '400 invalid_field_value enabled_events.1'],
    [{ enabled_events: ['test.ping'] }, '400 invalid_field_value enabled_events.0'],
    [{ enabled_events: 'payment.failed' }, '400 invalid_field_value enabled_events'],
  ])('PATCH /notifications with %j changes nothing', async (changes, error) => {
    const before = await shop.get(PATH);

    expect(errorOf(await shop.patch(PATH, changes))).toBe(error);

    expect((await shop.get(PATH)).body).toEqual(before.body);
  });

  test('PATCH /notifications sets address and e-mails on together; removing the address turns them off', async () => {
    const on = await shop.patch(PATH, { email_enabled: true, email_address: 'a@b.example' });
    const off = await shop.patch(PATH, { email_address: null });

    expect(dataOf(on)).toMatchObject({ email_enabled: true, email_address: 'a@b.example' });
    expect(dataOf(off)).toMatchObject({ email_enabled: false, email_address: null });
  });

  test('each mode and organization has its own settings', async () => {
    const other = await api.merchant();
    const live = await shop.withKey({ mode: 'live' });
    await shop.patch(PATH, { email_address: 'a@b.example' });

    for (const one of [other, live]) {
      expect(dataOf(await one.get(PATH))).toMatchObject({ email_address: null });
    }
  });

  test('POST /notifications/messenger/link answers link_url and expires_at, and only a hash of the link is stored', async () => {
    const answer = await shop.post(LINK);

    const { link_url, expires_at } = dataOf(answer);
    expect(answer.status).toBe(201);
    expect(link_url).toMatch(/^https:\/\/t\.me\/tollgate_test_bot\?start=link_[0-9A-Za-z]{32}$/);
    expect(Date.parse(text(expires_at)) - api.clock.now()).toBe(15 * 60_000);
    const rows = JSON.stringify(await api.db.raw('select * from messenger_links'));
    expect(rows).not.toContain(text(link_url).slice(-32));
  });

  test('POST /notifications/messenger/link repeated with its key answers the same link', async () => {
    const key = { 'Idempotency-Key': 'one-link' };

    const [first, again] = [await shop.post(LINK, undefined, key), await shop.post(LINK, undefined, key)];

    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  test('the linking flow: (1) the link, (2) start in the messenger, (3) messenger_enabled true', async () => {
    const telling = api.tell();
    const { link_url } = dataOf(await shop.post(LINK));
    const start = text(link_url).split('?start=')[1];
    bot.write(42, `/start ${start}`, 'ada_l');
    await expect.poll(async () => dataOf(await shop.get(PATH)).messenger_chat_id).toBe('42');
    await telling.stop();

    const enabled = await shop.patch(PATH, { messenger_enabled: true });
    const tested = await shop.post(MESSAGE_TEST);

    expect(dataOf(enabled)).toMatchObject({
      messenger_enabled: true,
      messenger_chat_id: '42',
      messenger_username: 'ada_l',
    });
    expect(dataOf(tested)).toEqual({ sent_to: '@ada_l', status: 'sent' });
    expect(bot.sent().at(-1)).toMatch(/^42: \[Test\] Test notification\n/);
  });

  test('DELETE /notifications/messenger unlinks the messenger; its notifications become disabled', async () => {
    await save();
    api.clock.advance(1_000);

    const { status, body } = await shop.delete(`${PATH}/messenger`);

    expect(status).toBe(200);
    expect(record(body).data).toMatchObject({
      email_enabled: true,
      messenger_enabled: false,
      messenger_chat_id: null,
      messenger_username: null,
      updated_at: new Date(api.clock.now()).toISOString(),
    });
  });

  test('DELETE /notifications/messenger without a linked chat changes nothing', async () => {
    const before = await shop.get(PATH);
    api.clock.advance(1_000);

    const answer = await shop.delete(`${PATH}/messenger`);

    expect([answer.status, answer.body]).toEqual([200, before.body]);
  });

  test('DELETE /notifications/messenger ends the caller’s open link, and no other', async () => {
    const other = await api.merchant();
    const links = [await shop.post(LINK), await other.post(LINK)];
    const [ended, open] = links.map(one => text(dataOf(one).link_url).split('?start=')[1]);

    await shop.delete(`${PATH}/messenger`);

    const telling = api.tell();
    bot.write(71, `/start ${ended}`, 'ada_l');
    bot.write(72, `/start ${open}`, 'grace_h');
    await expect.poll(async () => dataOf(await other.get(PATH)).messenger_chat_id).toBe('72');
    await telling.stop();
    expect(bot.sent().join('\n')).toContain('71: This link does not work');
    expect(dataOf(await shop.get(PATH))).toMatchObject({ messenger_chat_id: null });
  });

  test('the next retention pass removes an expired link and keeps an open one', async () => {
    const other = await api.merchant();
    await shop.post(LINK);
    api.clock.advance(15 * 60_000 - 1);
    await other.post(LINK);
    const kept = async () =>
      (await rowsOf<{ organization_id: string }>(api.db, 'select organization_id from messenger_links')).map(
        row => row.organization_id,
      );
    const worker = retentionWorker(api);

    await worker.runOnce(new AbortController().signal);
    expect(await kept()).toContain(shop.owner.organizationId);
    api.clock.advance(1);
    await worker.runOnce(new AbortController().signal);

    expect(await kept()).not.toContain(shop.owner.organizationId);
    expect(await kept()).toContain(other.owner.organizationId);
  });

  test('POST /notifications/test/email sends a mail to the address and answers sent_to and status', async () => {
    await save();

    const answer = await shop.post(MAIL_TEST);

    expect([answer.status, dataOf(answer)]).toEqual([
      200,
      { sent_to: 'orders@books.example', status: 'sent' },
    ]);
    expect(receiver.mails.map(({ to }) => to)).toEqual([['orders@books.example']]);
    expect(receiver.mails[0]?.parts['text/plain']).toContain(shop.name);
  });

  test('POST /notifications/test/email needs e-mail enabled and an address set', async () => {
    const withoutAddress = await shop.post(MAIL_TEST);
    await save({ emailEnabled: false });
    const off = await shop.post(MAIL_TEST);

    expect([errorOf(withoutAddress), errorOf(off)]).toEqual(Array(2).fill('400 invalid_field_value'));
    expect(messageOf(withoutAddress)).toContain('Set one in the notification settings');
    expect(messageOf(off)).toContain('Emails are off.');
    expect(receiver.mails).toEqual([]);
  });

  test('POST /notifications/test/email is limited to three per hour over both modes, failures included', async () => {
    await save();
    const live = await shop.withKey({ mode: 'live' });
    await notificationStore(api.db).save(everythingOn({ ...shop.owner, mode: 'live' }));
    receiver.behaviour = { recipient: '450 later' };
    await shop.post(MAIL_TEST);
    receiver.behaviour = {};
    api.clock.advance(60_000);
    await shop.post(MAIL_TEST);
    await live.post(MAIL_TEST);

    const fourth = await shop.post(MAIL_TEST);

    expect(errorOf(fourth)).toBe('429 rate_limit_exceeded');
    expect(fourth.headers.get('retry-after')).toBe('3540');
    expect(messageOf(fourth)).toContain('Send the next one in 59 minutes.');
    expect(receiver.mails).toHaveLength(2);
    const other = await api.merchant();
    await notificationStore(api.db).save(everythingOn(other.owner));
    expect((await other.post(MAIL_TEST)).status).toBe(200);
    api.clock.advance(HOUR_MS - 60_000);
    expect((await shop.post(MAIL_TEST)).status).toBe(200);
    expect((await shop.post(MAIL_TEST)).status).toBe(429);
  });

  test('POST /notifications/test/email has different errors for a refused address and an outage', async () => {
    await save();
    receiver.behaviour = { recipient: '550 no such user' };
    const refused = await shop.post(MAIL_TEST);
    receiver.behaviour = { recipient: '451 later' };
    const down = await shop.post(MAIL_TEST);

    expect([errorOf(refused), errorOf(down)]).toEqual(['400 invalid_field_value', '500 internal_error']);
    expect(messageOf(refused)).toBe(
      'The mail server refused the mail: 550 no such user. Check the email address.',
    );
    expect(messageOf(down)).toBe('The email could not be sent now. Try again later.');
  });

  test('POST /notifications/test/email repeated with its key sends one mail', async () => {
    await save();
    const key = { 'Idempotency-Key': 'one-mail' };

    const [first, again] = [
      await shop.post(MAIL_TEST, undefined, key),
      await shop.post(MAIL_TEST, undefined, key),
    ];

    expect(again.body).toEqual(first.body);
    expect(receiver.mails).toHaveLength(1);
  });

  test('POST /notifications/test/email that failed can be repeated with the same key', async () => {
    await save();
    const key = { 'Idempotency-Key': 'tried-again' };
    receiver.behaviour = { mail: '452 full' };
    expect((await shop.post(MAIL_TEST, undefined, key)).status).toBe(500);
    receiver.behaviour = {};

    expect((await shop.post(MAIL_TEST, undefined, key)).status).toBe(200);

    expect(receiver.mails).toHaveLength(1);
  });

  test('POST /notifications/test/messenger answers the chat when the user has no name', async () => {
    await save({ messengerUsername: null });

    expect(dataOf(await shop.post(MESSAGE_TEST))).toEqual({ sent_to: '5092331', status: 'sent' });
  });

  test('POST /notifications/test/messenger needs messenger linked and enabled', async () => {
    const notLinked = await shop.post(MESSAGE_TEST);
    await save({ messengerEnabled: false });
    const off = await shop.post(MESSAGE_TEST);

    expect([errorOf(notLinked), errorOf(off)]).toEqual(Array(2).fill('400 invalid_field_value'));
    expect(messageOf(notLinked)).toContain('No chat is linked.');
    expect(messageOf(off)).toContain('Messages are off.');
  });

  test('POST /notifications/test/messenger to a user who blocked the bot disables the messenger', async () => {
    await save();
    bot.next('sendMessage', botError(403, 'Forbidden: bot was blocked by the user'));

    const answer = await shop.post(MESSAGE_TEST);

    expect(errorOf(answer)).toBe('400 invalid_field_value');
    expect(messageOf(answer)).toBe(
      'The bot is blocked in the linked chat. Start it there again, or link another chat, and turn messages on.',
    );
    expect(dataOf(await shop.get(PATH))).toMatchObject({
      messenger_enabled: false,
      messenger_chat_id: '5092331',
    });
  });

  test('POST /notifications/test/messenger during an outage is internal_error, without the token', async () => {
    await save();
    bot.next(
      'sendMessage',
      botError(502, 'Bad Gateway'),
      botError(429, 'Too Many Requests', { retry_after: 3 }),
      botError(401, `Unauthorized ${bot.token}`),
    );

    for (let round = 0; round < 3; round++) {
      const answer = await shop.post(MESSAGE_TEST);
      expect(errorOf(answer)).toBe('500 internal_error');
      expect(JSON.stringify(answer.body)).not.toContain(bot.token);
    }
  });
});

test('without a bot, the link and the test message say what is missing and who can add it', async () => {
  const database = await sqliteDatabase('payments');
  {
    await using api = await startPaymentsApi(database.options);
    const shop = await api.merchant();

    for (const answer of [await shop.post(LINK), await shop.post(MESSAGE_TEST)]) {
      expect(errorOf(answer)).toBe('400 invalid_field_value');
      expect(messageOf(answer)).toContain('Its operator can set one up');
    }
  }
  await database.remove();
});

function messageOf({ body }: ApiAnswer): string {
  return text(record(record(body).error).message);
}
