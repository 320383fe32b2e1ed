import { PassThrough } from 'node:stream';
import { beforeEach, expect, test } from 'vitest';
import { rowsOf } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import { createLogger } from '#lib/logger.ts';
import { testEventData } from '#payments/events/test-event.ts';
import type { Notice } from '#payments/model/notification.ts';
import { createMailer, type Mailer } from '#payments/notifications/mailers.ts';
import { createMessenger } from '#payments/notifications/messenger.ts';
import {
  MAIL_WAITS_MS,
  MESSAGE_LIFETIME_MS,
  type NotifierDeps,
  notifiers,
} from '#payments/notifications/notifier.ts';
import { noticeStore } from '#payments/notifications/store/notice-store.ts';
import { notificationStore } from '#payments/notifications/store/notification-store.ts';
import { seals } from '#payments/secrets/sealed.ts';
import { sessionStore } from '#payments/sessions/session-store.ts';
import { type BotApi, botError, startBotApi } from '../../lab/bot-api.ts';
import { RECORD_TIME } from '../../lab/payments-records.ts';
import { aSession } from '../../lab/payments-sessions.ts';
import { eachDatabase } from '../../support/databases.ts';
import { givenDatabase } from '../../support/given-database.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { aNotice, aPaymentEvent, BASE, everythingOn } from '../../support/notification-records.ts';
import { type SmtpReceiver, startSmtpReceiver } from '../../support/smtp-receiver.ts';

const SEALS = seals(['a secret of tests that is long enough']);
const LEASE_MS = 120_000;

eachDatabase('the notifiers', databases => {
  const given = givenDatabase(databases, { isShared: true });
  let receiver: SmtpReceiver;
  let bot: BotApi;
  let mailer: Mailer;
  let clock: ManualClock;
  let logged: string[];

  beforeEach(async () => {
    clock = manualClock(RECORD_TIME);
    logged = [];
    receiver = await startSmtpReceiver();
    bot = await startBotApi();
    const mail = { smtp: receiver.url, from: 'pay@shop.example' };
    mailer = createMailer({ mail, folder: '/nowhere', clock, log: createLogger({ level: 'silent' }) });
    await notificationStore(given.db).save(everythingOn(given.owner));
    return async () => {
      await given.db.raw('delete from notices');
      await given.db.raw('delete from notification_settings');
      await mailer.close();
      await receiver[Symbol.asyncDispose]();
      await bot[Symbol.asyncDispose]();
    };
  });

  function workers(changes: Partial<NotifierDeps> = {}) {
    const destination = new PassThrough().on('data', chunk => logged.push(String(chunk)));
    const log = createLogger({ level: 'info', destination });
    const messenger = createMessenger({ token: bot.token, apiRoot: bot.url });
    const [mails, messages] = notifiers({
      db: given.db,
      seals: SEALS,
      clock,
      chains: BASE,
      mailer,
      messenger,
      log,
      ...changes,
    });
    if (mails === undefined || messages === undefined) throw new Error('there are two');
    const { signal } = new AbortController();
    return { mails: () => mails.runOnce(signal), messages: () => messages.runOnce(signal) };
  }
  const due = (...notices: Notice[]) => noticeStore(given.db, SEALS).insert(notices);
  const states = async () =>
    (
      await rowsOf<{
        status: string;
        attempts: number;
        next_attempt_at: number | null;
        last_error: string | null;
      }>(given.db, 'select * from notices order by id')
    ).map(({ status, attempts, next_attempt_at }) => ({ status, attempts, next_attempt_at }));
  const aMessage = (changes: Partial<Notice> = {}) =>
    aNotice(given.owner, { channel: 'messenger', ...changes });

  test('a payment is mailed once to the address of the settings', async () => {
    const notice = aNotice(given.owner);
    await due(notice);
    const { mails, messages } = workers();

    expect([await mails(), await messages(), await mails()]).toEqual([1, 0, 0]);

    expect(receiver.mails.map(({ to }) => to)).toEqual([['orders@books.example']]);
    expect(receiver.mails[0]?.headers).toContain('Subject: Payment received: 2.5 USDC');
    expect(receiver.mails[0]?.headers).toContain(`Message-ID: <${notice.id}@shop.example>`);
    expect(await states()).toEqual([{ status: 'sent', attempts: 1, next_attempt_at: null }]);
  });

  test('answers of the payer are mailed under their labels, or under their keys', async () => {
    const labels = { size: 'Which size?' };
    const draft = aSession(given.owner);
    const { id } = await transaction(given.db, handle =>
      sessionStore(handle, SEALS).open({
        ...draft,
        presentation: { ...draft.presentation, formLabels: labels },
      }),
    );
    const answered = (type: 'payment.completed' | 'checkout.paid_late') => {
      const data = testEventData(type, RECORD_TIME);
      if (!('form_data' in data)) throw new Error(`no answers in ${type}`);
      const form_data = { size: 'XL', note: 'Soon' };
      const checkoutSession = { ...data.checkoutSession, id };
      return aPaymentEvent(given.owner, { type, data: { ...data, form_data, checkoutSession } });
    };
    const late = answered('checkout.paid_late');
    await due(
      aNotice(given.owner, { payload: { kind: 'payment', event: answered('payment.completed') } }),
      aNotice(given.owner, { payload: { kind: 'attention', events: [late], more: 0 } }),
    );

    await workers().mails();

    expect(receiver.mails).toHaveLength(2);
    for (const { parts } of receiver.mails)
      expect(parts['text/plain']).toMatch(/^Answer: Which size\?: XL\r?\nAnswer: note: Soon\r?$/m);
  });

  test('a payment is messaged once to the linked chat', async () => {
    await due(aMessage());
    const { messages } = workers();

    expect([await messages(), await messages()]).toEqual([1, 0]);

    expect(bot.sent()).toEqual([expect.stringMatching(/^5092331: Payment received: 2\.5 USDC\n/)]);
    expect(await states()).toEqual([{ status: 'sent', attempts: 1, next_attempt_at: null }]);
  });

  test('during an outage a mail is tried five times with growing waits', async () => {
    receiver.behaviour = { recipient: '451 later' };
    await due(aNotice(given.owner));
    const { mails } = workers();

    for (const wait of MAIL_WAITS_MS) {
      expect(await mails()).toBe(1);
      clock.advance(wait - 1);
      expect(await mails()).toBe(0);
      clock.advance(1);
    }
    expect(await mails()).toBe(1);

    expect(await states()).toEqual([{ status: 'failed', attempts: 5, next_attempt_at: null }]);
    expect([...MAIL_WAITS_MS].sort((a, b) => a - b)).toEqual(MAIL_WAITS_MS);
  });

  test('a mail accepted on its second try is sent once', async () => {
    receiver.behaviour = { mail: '452 full' };
    await due(aNotice(given.owner));
    const { mails } = workers();
    await mails();
    receiver.behaviour = {};
    clock.advance(MAIL_WAITS_MS[0]);

    await mails();
    await mails();

    expect(receiver.mails).toHaveLength(1);
    expect(await states()).toEqual([{ status: 'sent', attempts: 2, next_attempt_at: null }]);
  });

  test('a mail with a refused recipient is not retried', async () => {
    receiver.behaviour = { recipient: '550 no such user' };
    await due(aNotice(given.owner));

    await workers().mails();

    expect(await states()).toEqual([{ status: 'failed', attempts: 1, next_attempt_at: null }]);
    expect(logged.join()).toContain('550');
  });

  test('a mail that was cut off before its result was written is sent again, under the same Message-ID', async () => {
    await due(aNotice(given.owner));
    const never = new Promise<void>(() => {});
    const cut: Mailer = { send: mail => mailer.send(mail).then(() => never), close: async () => {} };
    void workers({ mailer: cut }).mails();
    await expect.poll(() => receiver.mails.length).toBe(1);
    const { mails } = workers();
    expect(await mails()).toBe(0);

    clock.advance(LEASE_MS);
    await mails();

    const ids = receiver.mails.map(({ headers }) => headers.find(line => line.startsWith('Message-ID')));
    expect(ids).toEqual([ids[0], ids[0]]);
    expect(await states()).toEqual([{ status: 'sent', attempts: 2, next_attempt_at: null }]);
  });

  test('two processes send each mail once', async () => {
    await due(...Array.from({ length: 12 }, () => aNotice(given.owner)));
    const [one, two] = [workers(), workers()];

    for (let round = 0; round < 3; round++) await Promise.all([one.mails(), two.mails()]);

    expect(receiver.mails).toHaveLength(12);
  });

  test('every message for a chat waits for its retry_after and then arrives', async () => {
    bot.next('sendMessage', botError(429, 'Too Many Requests: retry after 7', { retry_after: 7 }));
    await due(aMessage());
    const { messages } = workers();
    await messages();
    await due(aMessage());
    await messages();
    expect(bot.calls).toHaveLength(1);

    clock.advance(6_999);
    expect(await messages()).toBe(0);
    clock.advance(1);
    await messages();

    expect(bot.sent()).toHaveLength(2);
    expect((await states()).map(({ status }) => status)).toEqual(['sent', 'sent']);
  });

  test('a rate-limited chat does not delay another one', async () => {
    const other = { ...given.owner, mode: 'test' } as const;
    await notificationStore(given.db).save(everythingOn(other, { messengerChatId: '77' }));
    bot.next('sendMessage', botError(429, 'Too Many Requests', { retry_after: 60 }));
    await due(aMessage());
    const { messages } = workers();
    await messages();
    await due(aNotice(other, { channel: 'messenger' }));

    await messages();

    expect(bot.sent()).toEqual([expect.stringMatching(/^77: \[Test\] Payment received/)]);
  });

  test('“blocked by the user” fails the message and sets messenger_enabled to false', async () => {
    bot.next('sendMessage', botError(403, 'Forbidden: bot was blocked by the user'));
    await due(aMessage());

    await workers().messages();

    expect(await states()).toEqual([{ status: 'failed', attempts: 1, next_attempt_at: null }]);
    expect(await notificationStore(given.db).find(given.owner)).toMatchObject({
      messengerEnabled: false,
      messengerChatId: '5092331',
      emailEnabled: true,
      updatedAt: clock.now(),
    });
  });

  test('a message is retried for a day during an outage of the messenger', async () => {
    const down = { status: 502, body: { ok: false, error_code: 502, description: 'Bad Gateway' } };
    bot.next('sendMessage', down, down, { status: 500, body: 'nonsense' });
    await due(aMessage());
    const { messages } = workers();

    for (let round = 0; round < 4; round++) {
      await messages();
      clock.advance(600_000);
    }
    expect(bot.sent()).toHaveLength(1);

    bot.next('sendMessage', down);
    clock.advance(MESSAGE_LIFETIME_MS);
    await due(aMessage());
    await messages();
    expect((await states()).map(({ status }) => status).sort()).toEqual(['failed', 'sent']);
  });

  test('a mail is sent while a message hangs', async () => {
    const never = new Promise<void>(() => {});
    const messenger = createMessenger({ token: bot.token, apiRoot: bot.url });
    const { mails, messages } = workers({ messenger: { ...messenger, send: () => never } });
    await due(aMessage(), aNotice(given.owner));
    void messages();

    await mails();

    expect(receiver.mails).toHaveLength(1);
  });

  test.each([
    ['mails were switched off', { emailEnabled: false }],
    ['the event was switched off', { enabledEvents: ['payment.failed'] as const }],
    ['the address was removed', { emailEnabled: false, emailAddress: null }],
  ])('nothing is sent when %s after the event', async (_, changes) => {
    await due(aNotice(given.owner));
    await notificationStore(given.db).save(everythingOn(given.owner, changes));

    await workers().mails();

    expect(receiver.mails).toEqual([]);
    expect(await states()).toEqual([{ status: 'failed', attempts: 1, next_attempt_at: null }]);
  });

  test('the mail about a disabled webhook is sent even when mails are off', async () => {
    await notificationStore(given.db).save(
      everythingOn(given.owner, { emailEnabled: false, enabledEvents: [] }),
    );
    const payload = {
      kind: 'webhook_disabled',
      webhookId: 'wh_1',
      url: 'https://a.example/',
      disabledAt: 1,
    } as const;
    await due(aNotice(given.owner, { payload }));

    await workers().mails();

    expect(receiver.mails[0]?.headers).toContain('Subject: Webhook disabled');
  });

  test('messages are dropped when no bot is configured any more', async () => {
    await due(aMessage());

    await workers({ messenger: undefined }).messages();

    expect(await states()).toEqual([{ status: 'failed', attempts: 1, next_attempt_at: null }]);
  });

  test('the bot’s token is in no log and no error', async () => {
    bot.next('sendMessage', botError(400, `Bad Request: ${bot.token}`), botError(401, 'Unauthorized'));
    await due(aMessage(), aMessage());
    const { messages } = workers();
    await messages();
    const gone = createMessenger({ token: bot.token, apiRoot: 'http://127.0.0.1:9' });
    await due(aMessage());
    await workers({ messenger: gone }).messages();

    const errors = await rowsOf<{ last_error: string }>(given.db, 'select last_error from notices');
    expect(errors).toHaveLength(3);
    expect(logged).toHaveLength(3);
    expect(JSON.stringify([errors, logged])).not.toContain(bot.token);
  });
});
