import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { leadership } from '#db/leader.ts';
import { type Db, openDatabase } from '#db/open.ts';
import { createLogger } from '#lib/logger.ts';
import { defaultSettings } from '#payments/model/notification.ts';
import type { Organization, Owner } from '#payments/model/owner.ts';
import { LINK_LIFETIME_MS, linkTokenHash, newLinkToken } from '#payments/notifications/chat-linking.ts';
import { createMessenger } from '#payments/notifications/messenger.ts';
import { startMessenger } from '#payments/notifications/start-messenger.ts';
import { messengerLinks } from '#payments/notifications/store/messenger-links.ts';
import { notificationStore } from '#payments/notifications/store/notification-store.ts';
import { organizationStore } from '#payments/store/organization-store.ts';
import { type BotApi, botError, message, startBotApi } from '../../lab/bot-api.ts';
import { anOrganization, RECORD_TIME } from '../../lab/payments-records.ts';
import { eachDatabase } from '../../support/databases.ts';
import { everythingOn } from '../../support/notification-records.ts';

const ADA = 42;
const NOT_VALID = `${ADA}: This link does not work`;

eachDatabase('the messenger link', databases => {
  let db: Db;
  let bot: BotApi;
  let organization: Organization;
  let owner: Owner;
  /** Current time of the polling process. */
  let now: number;
  let logged: string[];
  let listening: { stop(): Promise<void> };

  beforeAll(async () => {
    db = openDatabase(await databases.create('payments'));
  });
  afterAll(() => db.destroy());
  beforeEach(async () => {
    now = RECORD_TIME;
    logged = [];
    bot = await startBotApi();
    organization = anOrganization();
    await organizationStore(db).insert(organization);
    owner = { organizationId: organization.id, mode: 'live' };
    await db.raw('delete from messenger_state');
    await db.raw('delete from notification_settings');
    listening = listen();
    return async () => {
      await listening.stop();
      await bot[Symbol.asyncDispose]();
    };
  });

  function listen() {
    const destination = new PassThrough().on('data', chunk => logged.push(String(chunk)));
    return startMessenger({
      db,
      clock: { now: () => now, sleep: (_, signal) => pause(10, signal) },
      log: createLogger({ level: 'info', destination }),
      messenger: createMessenger({ token: bot.token, apiRoot: bot.url }),
    });
  }
  async function link(whose: Owner = owner): Promise<string> {
    const token = newLinkToken();
    const expiresAt = now + LINK_LIFETIME_MS;
    await messengerLinks(db).put(whose, { tokenHash: linkTokenHash(token), expiresAt });
    return `/start link_${token}`;
  }
  const settings = (whose: Owner = owner) => notificationStore(db).find(whose);
  const answers = (count: number) => expect.poll(() => bot.sent().length).toBe(count);

  test('/start links chat and user name, enables no notifications, and is answered', async () => {
    bot.write(ADA, await link(), 'ada_l');

    await answers(1);
    expect(bot.sent()[0]).toMatch(`${ADA}: This chat is now linked to ${organization.name} (live mode).`);
    expect(bot.sent()[0]).toContain('choose “Turn on”');
    expect(await settings()).toEqual({
      ...defaultSettings(owner, now),
      messengerChatId: '42',
      messengerUsername: 'ada_l',
    });
  });

  test('a link works once', async () => {
    const start = await link();
    bot.write(ADA, start, 'ada_l');
    bot.write(7, start, 'thief');

    await answers(2);
    expect(bot.sent()[1]).toMatch(/^7: This link does not work/);
    expect(await settings()).toMatchObject({ messengerChatId: '42', messengerUsername: 'ada_l' });
  });

  test('valid for 15 minutes: a millisecond before that it links', async () => {
    const start = await link();
    now += LINK_LIFETIME_MS - 1;
    bot.write(ADA, start);

    await answers(1);
    expect(await settings()).toMatchObject({ messengerChatId: '42', messengerUsername: null });
  });

  test('valid for 15 minutes: after that a new link must be generated', async () => {
    const start = await link();
    now += LINK_LIFETIME_MS;
    bot.write(ADA, start);

    await answers(1);
    expect(bot.sent()[0]).toContain(NOT_VALID);
    expect(await settings()).toMatchObject({ messengerChatId: null });

    bot.write(ADA, await link());
    await answers(2);
    expect(await settings()).toMatchObject({ messengerChatId: '42' });
  });

  test('a newer link ends the older one, of the same mode only', async () => {
    const older = await link();
    const ofTestMode = await link({ ...owner, mode: 'test' });
    const newer = await link();
    bot.write(1, older);
    bot.write(2, newer);
    bot.write(3, ofTestMode);

    await answers(3);
    expect(bot.sent()[0]).toMatch(/^1: This link does not work/);
    expect(await settings()).toMatchObject({ messengerChatId: '2' });
    expect(await settings({ ...owner, mode: 'test' })).toMatchObject({ messengerChatId: '3' });
  });

  test('a link replaces the chat that was linked before', async () => {
    await notificationStore(db).save(everythingOn(owner));
    bot.write(ADA, await link());

    await answers(1);
    expect(await settings()).toMatchObject({
      messengerChatId: '42',
      messengerUsername: null,
      messengerEnabled: true,
    });
    expect(bot.sent()[0]).toContain('come here from now on');
  });

  test.each(['group', 'supergroup', 'channel'])('/start and /stop in a %s are ignored', async type => {
    const start = await link();
    await notificationStore(db).save(everythingOn(owner, { messengerChatId: '-5' }));
    bot.push({ message: message({ id: -5, type }, start, 'ada_l') });
    bot.push({ message: message({ id: -5, type }, '/stop', 'ada_l') });
    bot.write(ADA, '/start');

    await answers(1);
    expect(bot.sent()[0]).toMatch(/^42: This bot notifies merchants/);
    expect(await settings()).toEqual(everythingOn(owner, { messengerChatId: '-5' }));
  });

  test('/stop unlinks the chat in both modes and says so', async () => {
    const other = { ...owner, mode: 'test' } as const;
    await notificationStore(db).save(everythingOn(owner, { messengerChatId: '42' }));
    await notificationStore(db).save(everythingOn(other, { messengerChatId: '42' }));
    now += 5;
    bot.write(ADA, '/stop');
    bot.write(ADA, '/stop');

    await answers(2);
    expect(bot.sent()[0]).toMatch(/^42: This chat is unlinked/);
    expect(bot.sent()[1]).toMatch(/^42: This chat is not linked/);
    for (const one of [owner, other]) {
      expect(await settings(one)).toEqual({
        ...everythingOn(one),
        messengerEnabled: false,
        messengerChatId: null,
        messengerUsername: null,
        updatedAt: now,
      });
    }
  });

  test('a user who blocks the bot gets no more messages', async () => {
    await notificationStore(db).save(everythingOn(owner, { messengerChatId: '42' }));
    bot.push({
      my_chat_member: {
        chat: { id: ADA, type: 'private' },
        from: { id: ADA, is_bot: false, first_name: 'Ada' },
        date: 0,
        old_chat_member: { status: 'member', user: { id: 1 } },
        new_chat_member: { status: 'kicked', user: { id: 1 }, until_date: 0 },
      },
    });
    bot.write(ADA, '/start');

    await answers(1);
    expect(await settings()).toMatchObject({ messengerEnabled: false, messengerChatId: '42' });
  });

  test.each(['/start link_', '/start link_short', '/start something', `/start link_${'!'.repeat(32)}`])(
    '%j is answered like an expired link',
    async text => {
      bot.write(ADA, text);

      await answers(1);
      expect(bot.sent()[0]).toContain(NOT_VALID);
    },
  );

  test('any other text is not answered', async () => {
    bot.write(ADA, 'hello');
    bot.write(ADA, '/starting');
    bot.write(ADA, '/start');

    await answers(1);
  });

  test('one failing answer does not stop the others', async () => {
    bot.next('sendMessage', botError(403, 'Forbidden: bot was blocked by the user'));
    bot.write(7, '/start');
    bot.write(ADA, '/start');

    await answers(1);
    expect(bot.sent()[0]).toMatch(/^42: /);
  });

  test('polling continues after an outage of the messenger, and the log does not contain the token', async () => {
    bot.next('getUpdates', botError(502, 'Bad Gateway'), botError(409, `Conflict ${bot.token}`));
    bot.write(ADA, '/start');

    await answers(1);
    expect(logged.join()).toContain('409');
    expect(logged.join()).not.toContain(bot.token);
  });

  test('one process polls at a time, and the next one continues where it stopped', async () => {
    const second = listen();
    bot.write(ADA, '/start');
    await answers(1);
    await listening.stop();
    listening = second;

    bot.write(ADA, '/stop');

    await answers(2);
    const polls = bot.calls
      .filter(({ method }) => method === 'getUpdates')
      .map(({ body }) => Number(body.offset));
    expect(polls).toEqual([...polls].sort((a, b) => a - b));
    await pause(100);
    expect(bot.sent()).toHaveLength(2);
  });

  test('an update that arrives after the lead was lost is read again', async () => {
    await expect.poll(() => bot.calls.some(({ method }) => method === 'getUpdates')).toBe(true);
    now += 60_001;
    const other = leadership(db, {
      name: 'messenger',
      leaseMs: 60_000,
      clock: { now: () => now, sleep: pause },
    });
    expect(await other.hold()).toBe(true);
    await other.resign();

    bot.write(ADA, '/start');

    await answers(1);
  });

  test('updates continue when the messenger restarts its numbering at a lower number', async () => {
    bot.jumpTo(5_000_000);
    bot.write(ADA, '/start');
    await answers(1);
    bot.jumpTo(1_000);

    bot.write(ADA, '/stop');

    await answers(2);
    bot.write(ADA, '/start');
    await answers(3);
  });

  test('stopping does not wait for a pending poll', async () => {
    await expect.poll(() => bot.calls.some(({ method }) => method === 'getUpdates')).toBe(true);

    await listening.stop();

    expect(bot.calls.filter(({ method }) => method === 'getUpdates')).toHaveLength(1);
  });
});

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
