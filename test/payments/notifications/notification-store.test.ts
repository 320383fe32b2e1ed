import { expect, test } from 'vitest';
import { execute, rowsOf } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import { newId } from '#lib/ids.ts';
import { createLogger } from '#lib/logger.ts';
import { defaultSettings, type Notice } from '#payments/model/notification.ts';
import { messengerLinks } from '#payments/notifications/store/messenger-links.ts';
import { noticeQueue, noticeStore } from '#payments/notifications/store/notice-store.ts';
import { notificationStore, testMails } from '#payments/notifications/store/notification-store.ts';
import { seals } from '#payments/secrets/sealed.ts';
import { RECORD_TIME } from '../../lab/payments-records.ts';
import { bothDatabases } from '../../support/databases.ts';
import { givenDatabase } from '../../support/given-database.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { anEvent } from '../../support/webhook-records.ts';

const SILENT = createLogger({ level: 'silent' });
const SEALS = seals(['a secret of tests that is long enough']);
const HOUR_MS = 3_600_000;

bothDatabases('stored notifications', databases => {
  const given = givenDatabase(databases, { isShared: true });

  const aNotice = (changes: Partial<Notice> = {}): Notice => ({
    ...given.owner,
    id: newId('ntc'),
    channel: 'email',
    payload: { kind: 'payment', event: anEvent(given.owner) },
    attempts: 0,
    createdAt: RECORD_TIME,
    ...changes,
  });

  test('settings are defaults until saved, and separate for each mode', async () => {
    const store = notificationStore(given.db);
    const defaults = defaultSettings(given.owner, RECORD_TIME);
    const changed = {
      ...defaults,
      emailEnabled: true,
      emailAddress: 'orders@books.example',
      messengerChatId: '5092331',
      messengerUsername: 'cornerbooks',
      enabledEvents: [],
      updatedAt: RECORD_TIME + 1,
    };
    expect(await store.find(given.owner)).toEqual(defaults);

    await store.save(defaults);
    await store.save(changed);

    expect(await store.find(given.owner)).toEqual(changed);
    expect(await store.find({ ...given.owner, mode: 'test' })).toEqual({ ...defaults, mode: 'test' });
    expect(await store.find({ ...given.owner, organizationId: newId('org') })).toBeUndefined();
    expect(await store.ownersOfChat('5092331')).toContainEqual(given.owner);
    expect(await store.ownersOfChat('another')).toEqual([]);
  });

  test('a link can be used once before it expires, and a newer one invalidates it', async () => {
    const links = messengerLinks(given.db);
    const [first, second] = [Buffer.from(newId('first')), Buffer.from(newId('second'))];
    const expiresAt = RECORD_TIME + 1;
    await links.put(given.owner, { tokenHash: first, expiresAt });
    await links.put(given.owner, { tokenHash: second, expiresAt });

    expect(await links.take(first, RECORD_TIME)).toBeUndefined();
    expect(await links.take(second, expiresAt)).toBeUndefined();
    const taken = await Promise.all([
      links.take(second, RECORD_TIME),
      messengerLinks(given.other).take(second, RECORD_TIME),
    ]);
    expect(taken.filter(one => one !== undefined)).toEqual([given.owner]);

    await links.put(given.owner, { tokenHash: first, expiresAt });
    expect([await links.removeExpired(expiresAt), await links.removeExpired(expiresAt)]).toEqual([1, 0]);
  });

  test('the offset of the messenger’s updates never goes back', async () => {
    const links = messengerLinks(given.db);
    expect(await links.offset()).toBe(0);

    await links.setOffset(7_000_000_001);
    await links.setOffset(5);

    expect(await links.offset()).toBe(7_000_000_001);
  });

  test('test mails are limited to three per hour over both modes and all processes', async () => {
    const reserve = (now: number, on = given.db) =>
      transaction(on, handle => testMails(handle).reserve(given.owner.organizationId, now));

    const counted = await Promise.all(
      [0, 1, 2, 3, 4].map(i => reserve(RECORD_TIME, i % 2 === 0 ? given.db : given.other)),
    );

    expect(counted.filter(one => one === null)).toHaveLength(3);
    expect(counted.filter(one => one === RECORD_TIME + HOUR_MS)).toHaveLength(2);
    expect(await reserve(RECORD_TIME + HOUR_MS - 1)).toBe(RECORD_TIME + HOUR_MS);
    expect(await reserve(RECORD_TIME + HOUR_MS)).toBeNull();
  });

  test('a notice is sealed, leased to one worker at a time, and retried when its outcome requires it', async () => {
    const clock = manualClock(RECORD_TIME);
    const [queue, elsewhere] = [given.db, given.other].map(on =>
      noticeQueue({ db: on, seals: SEALS, clock, log: SILENT }),
    );
    if (queue === undefined || elsewhere === undefined) throw new Error('there are two');
    const notice = aNotice();
    await noticeStore(given.db, SEALS).insert([notice, aNotice({ payload: notice.payload })]);

    const taken = (await Promise.all([queue.take('email', 5), elsewhere.take('email', 5)])).flat();
    expect(taken).toEqual([{ ...notice, attempts: 1, token: expect.any(String) }]);
    expect(await queue.take('messenger', 5)).toEqual([]);

    const [first] = taken;
    if (first === undefined) throw new Error('nothing was taken');
    const later = { status: 'pending', error: 'busy', nextAttemptAt: RECORD_TIME + 9 } as const;
    expect(await queue.settle(first, later)).toBe(true);
    expect(await queue.settle(first, { status: 'sent', error: null, nextAttemptAt: null })).toBe(false);
    expect(await queue.take('email', 5)).toEqual([]);
    clock.advance(9);
    const [second] = await queue.take('email', 5);
    expect(second).toMatchObject({ id: notice.id, attempts: 2 });
    if (second === undefined) throw new Error('it is not tried again');
    expect(await queue.settle(second, { status: 'sent', error: null, nextAttemptAt: null })).toBe(true);
    clock.advance(HOUR_MS);
    expect(await queue.take('email', 5)).toEqual([]);
    expect(JSON.stringify(await rowsOf(given.db, 'select * from notices'))).not.toContain('token_address');
  });

  test('old notices are removed in batches', async () => {
    await execute(given.db, 'delete from notices');
    await noticeStore(given.db, SEALS).insert([
      aNotice(),
      aNotice(),
      aNotice({ createdAt: RECORD_TIME + 1 }),
    ]);
    const remove = () => noticeStore(given.db, SEALS).removeOld({ before: RECORD_TIME + 1, limit: 1 });

    expect([await remove(), await remove(), await remove()]).toEqual([1, 1, 0]);
  });
});
