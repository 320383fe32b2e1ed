import { beforeEach, expect, test } from 'vitest';
import { execute, rowsOf } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import { createLogger } from '#lib/logger.ts';
import { attemptBegun, attemptCutOff, RETRY_DELAYS_MS } from '#payments/model/delivery.ts';
import type { Owner } from '#payments/model/owner.ts';
import type { AttemptResult, Delivery, Webhook } from '#payments/model/webhook.ts';
import { noticeQueue } from '#payments/notifications/store/notice-store.ts';
import { notificationStore } from '#payments/notifications/store/notification-store.ts';
import { seals } from '#payments/secrets/sealed.ts';
import { beginManual, endAttempts, MANUAL_LEASE_MS } from '#payments/webhooks/attempt-lifecycle.ts';
import { type DeliveryQueueDeps, deliveryQueue } from '#payments/webhooks/delivery-queue.ts';
import { DELIVERY_LIFETIME_MS, deliveryStore } from '#payments/webhooks/store/delivery-store.ts';
import { LEASE_MS } from '#payments/webhooks/store/due-deliveries.ts';
import { webhookStore } from '#payments/webhooks/store/webhook-store.ts';
import { RECORD_TIME } from '../../lab/payments-records.ts';
import { bothDatabases } from '../../support/databases.ts';
import { givenDatabase } from '../../support/given-database.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { aDelivery, aSecret, aWebhook } from '../../support/webhook-records.ts';

const SILENT = createLogger({ level: 'silent' });
const SEALS = seals(['a secret of tests that is long enough']);

bothDatabases('the queue of deliveries', databases => {
  const given = givenDatabase(databases, { isShared: true });
  let clock: ManualClock;
  let webhook: Webhook;

  beforeEach(async () => {
    clock = manualClock(RECORD_TIME);
    await execute(given.db, 'delete from webhooks');
    webhook = await aWebhookOf(given.owner);
  });

  const queueWith = (options: Partial<DeliveryQueueDeps> = {}) =>
    deliveryQueue({ db: given.db, seals: SEALS, clock, log: SILENT, ...options });
  const queue = (db = given.db) => queueWith({ db, disableAfterMs: { live: 0, test: 0 } });
  const aWebhookOf = async (of: Owner) => {
    const made = aWebhook(of);
    await transaction(given.db, handle => webhookStore(handle, SEALS).insert(made, aSecret()));
    return made;
  };
  const insert = async (delivery: Delivery, body = '{"é":1}') => {
    await deliveryStore(given.db, SEALS).insert([{ delivery, body }]);
    return delivery;
  };
  const find = (id: string) => deliveryStore(given.db, SEALS).find(given.owner, webhook.id, id);
  const findWebhook = () => webhookStore(given.db, SEALS).find(given.owner, webhook.id);
  const take = async (limit = 10, on = given.db) =>
    (await queue(on).exchange({ wanted: [{ webhookId: webhook.id, limit }] })).begun[0]?.deliveries ?? [];
  const end = async (results: readonly AttemptResult[], on = given.db) =>
    (await queue(on).exchange({ results })).ended;
  const result = (
    { id, token, body = '{}' }: { id: string; token: string; body?: string },
    isSuccess: boolean,
    changes: Partial<AttemptResult> = {},
  ): AttemptResult => ({
    id,
    token,
    sentTo: webhook.url,
    sentBody: body,
    isSuccess,
    responseCode: isSuccess ? 200 : 503,
    responseTimeMs: 12,
    error: isSuccess ? null : 'The receiver answered 503.',
    responseBody: null,
    endedAt: clock.now(),
    jitter: 0,
    ...changes,
  });
  const fail = async (count: number) => {
    for (let i = 0; i < count; i += 1) await insert(aDelivery(webhook));
    await end((await take(count)).map(one => result(one, false)));
  };
  const retry = (id: string) =>
    transaction(given.db, handle =>
      beginManual(handle, { seals: SEALS, now: clock.now() }, given.owner, { webhookId: webhook.id, id }),
    );

  test('claims due deliveries with body and receiver, and counts the attempt at once', async () => {
    const delivery = await insert(aDelivery(webhook));

    const { begun: claims } = await queue().exchange({ wanted: [{ webhookId: webhook.id, limit: 5 }] });
    const [claim] = claims;

    const begun = { ...delivery, ...attemptBegun(delivery, 'automatic') };
    expect(claim?.receiver).toEqual({
      webhookId: webhook.id,
      url: webhook.url,
      secrets: await webhookStore(given.db, SEALS).secrets(given.owner, webhook.id),
      storeResponses: false,
    });
    expect(claim?.deliveries).toEqual([
      { ...begun, body: '{"é":1}', token: expect.stringMatching(/^lease_/) },
    ]);
    expect(await find(delivery.id)).toEqual(begun);
    expect((await findWebhook())?.lastTriggeredAt).toBe(clock.now());
  });

  test('stores bodies encrypted', async () => {
    const { id } = await insert(aDelivery(webhook), '{"customer":"Grace"}');

    expect(
      JSON.stringify(await rowsOf(given.db, 'select * from deliveries where id = ?', [id])),
    ).not.toContain('Grace');
  });

  test('lists each active webhook with due deliveries once, with organization and earliest due time', async () => {
    const theirs = await given.newOwner();
    const second = await aWebhookOf({ ...theirs, mode: 'test' });
    const idle = await aWebhookOf(given.owner);
    await insert(aDelivery(webhook, { nextAttemptAt: RECORD_TIME - 5 }));
    await insert(aDelivery(webhook));
    await insert(aDelivery(second));
    await insert(aDelivery(idle, { nextAttemptAt: RECORD_TIME + 1 }));
    await insert(aDelivery(idle, { nextAttemptAt: null, status: 'success' }));

    const due = await queue().webhooksWithDue();

    expect(due).toHaveLength(2);
    expect(due).toContainEqual({
      webhookId: webhook.id,
      organizationId: given.owner.organizationId,
      dueSince: RECORD_TIME - 5,
    });
    expect(due).toContainEqual({
      webhookId: second.id,
      organizationId: theirs.organizationId,
      dueSince: RECORD_TIME,
    });
  });

  test('gives no row to two workers, in one process or two', async () => {
    for (let i = 0; i < 12; i += 1) await insert(aDelivery(webhook));

    const taken = (await Promise.all([take(4), take(4, given.other), take(4), take(4, given.other)])).flat();

    const ids = [...taken, ...(await take(12))].map(({ id }) => id);
    expect(ids).toHaveLength(12);
    expect(new Set(ids).size).toBe(12);
    expect(await queue().webhooksWithDue()).toEqual([]);
  });

  test('gives one row to only one of two concurrent workers', async () => {
    const { id } = await insert(aDelivery(webhook));

    const taken = await Promise.all([take(1), take(1, given.other)]);

    expect(taken.flat().map(one => one.id)).toEqual([id]);
    expect((await find(id))?.attempts).toBe(1);
  });

  test('gives a delivery of a dead process again when its lease ends, and counts no failure', async () => {
    const delivery = await insert(aDelivery(webhook));
    const [first] = await take();

    clock.advance(LEASE_MS - 1);
    expect(await queue().webhooksWithDue()).toEqual([]);
    expect(await take()).toEqual([]);
    clock.advance(1);
    expect(await queue().webhooksWithDue()).toHaveLength(1);
    const [second] = await take();

    const cutOff = attemptCutOff(attemptBegun(delivery, 'automatic'), clock.now());
    expect(second).toMatchObject(attemptBegun(cutOff, 'automatic'));
    expect(second?.token).not.toBe(first?.token);
    expect(await findWebhook()).toMatchObject({ failureCount: 0, failuresInARow: 0 });
  });

  test('accepts no result under a lease that has passed to another worker', async () => {
    const { id } = await insert(aDelivery(webhook));
    const [first] = await take();
    clock.advance(LEASE_MS);
    const [second] = await take(10, given.other);
    if (first === undefined || second === undefined) throw new Error('nothing was taken');

    expect(await end([result(first, false)])).toEqual([]);
    expect(await find(id)).toMatchObject({ status: 'pending', sending: 'automatic', attempts: 2 });

    expect(await end([result(second, true)], given.other)).toHaveLength(1);
    expect(await end([result(first, false)])).toEqual([]);
    expect(await find(id)).toMatchObject({ status: 'success', sending: null, lastError: null });
    expect(await findWebhook()).toMatchObject({ successCount: 1, failureCount: 0 });
  });

  test('writes many results at once to their rows, and counts every delivery once', async () => {
    for (let i = 0; i < 600; i += 1) await insert(aDelivery(webhook));
    const taken = await take(600);

    const ended = await end(
      taken.map((one, i) => result(one, i % 2 === 0, { responseTimeMs: i, endedAt: RECORD_TIME + i })),
    );

    expect(ended).toHaveLength(600);
    for (const i of [0, 1, 598, 599]) {
      expect(await find(taken[i]?.id ?? '')).toMatchObject({
        status: i % 2 === 0 ? 'success' : 'failed',
        responseCode: i % 2 === 0 ? 200 : 503,
        responseTimeMs: i,
        endedAt: RECORD_TIME + i,
        nextAttemptAt: i % 2 === 0 ? null : RECORD_TIME + i + RETRY_DELAYS_MS[0],
        lastError: i % 2 === 0 ? null : 'The receiver answered 503.',
      });
    }
    expect(await findWebhook()).toMatchObject({ successCount: 300, failureCount: 300, failuresInARow: 1 });
  });

  test('disables a webhook at the tenth consecutive failure, with a mail about it and one at the fifth', async () => {
    const settings = await notificationStore(given.db).find(given.owner);
    if (settings === undefined) throw new Error('the organization has no settings');
    await notificationStore(given.db).save({ ...settings, emailAddress: 'ops@books.example' });
    await fail(9);
    expect(await findWebhook()).toMatchObject({ isActive: true, failuresInARow: 9 });

    clock.advance(1);
    await fail(3);

    const disabled = { isActive: false, disabledReason: 'too_many_failures', disabledAt: clock.now() };
    expect(await findWebhook()).toMatchObject({ ...disabled, failureCount: 12, updatedAt: clock.now() });
    const notices = await noticeQueue({ db: given.db, seals: SEALS, clock, log: SILENT }).take('email', 10);
    expect(notices.map(({ payload }) => payload)).toEqual([
      { kind: 'webhook_failing', webhookId: webhook.id, url: webhook.url, failingSince: RECORD_TIME },
      { kind: 'webhook_disabled', webhookId: webhook.id, url: webhook.url, disabledAt: clock.now() },
    ]);
  });

  test('keeps a live webhook that failed ten deliveries within ten minutes, until it fails later', async () => {
    const failByDefault = async (count: number) => {
      for (let i = 0; i < count; i += 1) await insert(aDelivery(webhook));
      const results = (await take(count)).map(one => result(one, false));
      await queueWith().exchange({ results });
    };
    await failByDefault(12);
    clock.advance(10 * 60_000 - 1);
    await failByDefault(1);
    const before = await findWebhook();

    clock.advance(1);
    await failByDefault(1);

    expect(before).toMatchObject({ isActive: true, failuresInARow: 13, failingSince: RECORD_TIME });
    expect(await findWebhook()).toMatchObject({ isActive: false, failuresInARow: 14 });
  });

  test('does not count failures at an old address towards the ten of a new one', async () => {
    for (let i = 0; i < 10; i += 1) await insert(aDelivery(webhook));
    const taken = await take(10);
    const url = 'https://books.example/repaired';
    await transaction(given.db, handle =>
      webhookStore(handle, SEALS).change(given.owner, webhook.id, { url }, clock.now()),
    );

    await end(taken.map(one => result(one, false)));

    expect(await findWebhook()).toMatchObject({ isActive: true, failuresInARow: 0, failureCount: 10 });
  });

  test('ends attempts and begins others in one exchange, but none of a webhook that it disables', async () => {
    for (let i = 0; i < 14; i += 1) await insert(aDelivery(webhook));
    const exchange = (results: readonly AttemptResult[]) =>
      queue().exchange({ results, wanted: [{ webhookId: webhook.id, limit: 4 }] });
    const taken = await take(9);

    const first = await exchange(taken.map(one => result(one, false)));
    const begun = first.begun.flatMap(({ deliveries }) => deliveries);
    const second = await exchange(begun.map(one => result(one, false)));

    expect([first.ended.length, begun.length]).toEqual([9, 4]);
    expect([second.ended.length, second.begun]).toEqual([4, []]);
    expect(await findWebhook()).toMatchObject({ isActive: false, failureCount: 13 });
  });

  test('disables a webhook without a mail when no address is set', async () => {
    await fail(10);

    expect((await findWebhook())?.isActive).toBe(false);
    expect(await noticeQueue({ db: given.db, seals: SEALS, clock, log: SILENT }).take('email', 10)).toEqual(
      [],
    );
  });

  test('lets a failed delivery be retried manually, once at a time, and only through its own webhook', async () => {
    await fail(1);
    const [{ id } = { id: '' }] = await rowsOf<{ id: string }>(given.db, 'select id from deliveries');
    const before = await find(id);

    const [begun, second] = [await retry(id), await retry(id)];

    if (begun === undefined || begun === 'not_allowed') throw new Error('no retry was begun');
    expect(second).toBe('not_allowed');
    expect(begun.receiver.url).toBe(webhook.url);
    expect(begun.delivery).toMatchObject({ body: '{"é":1}', attempts: 2, sending: 'manual' });
    expect((await find(id))?.nextAttemptAt).toBe(before?.nextAttemptAt);
    const elsewhere = await aWebhookOf(given.owner);
    const at = { webhookId: elsewhere.id, id };
    expect(
      await transaction(given.db, handle =>
        beginManual(handle, { seals: SEALS, now: clock.now() }, given.owner, at),
      ),
    ).toBeUndefined();

    const ended = await transaction(given.db, handle =>
      endAttempts(handle, SEALS, [result(begun.delivery, true)], { now: clock.now() }),
    );
    expect(ended).toMatchObject([{ status: 'success', nextAttemptAt: null, attempts: 2 }]);
    expect(await retry(id)).toBe('not_allowed');
  });

  test('does not send a delivery during its manual retry', async () => {
    await fail(1);
    const [{ id } = { id: '' }] = await rowsOf<{ id: string }>(given.db, 'select id from deliveries');
    clock.advance(RETRY_DELAYS_MS[0]);
    await retry(id);

    expect(await take()).toEqual([]);
    clock.advance(MANUAL_LEASE_MS);
    expect(await take()).toMatchObject([{ id, sending: 'automatic', attempts: 3, automaticFailures: 1 }]);
  });

  test('ends a test of a dead process, which can then be retried manually', async () => {
    const test = await insert(aDelivery(webhook, { isTest: true, nextAttemptAt: null }));
    await retry(test.id);
    clock.advance(MANUAL_LEASE_MS - 1);
    expect(await queue().endCutOff(10)).toBe(0);

    clock.advance(1);
    expect(await queue().endCutOff(10)).toBe(1);

    expect(await find(test.id)).toMatchObject({ status: 'failed', sending: null, attempts: 1 });
    expect((await find(test.id))?.lastError).toContain('interrupted');
    expect(await retry(test.id)).toMatchObject({ delivery: { attempts: 2 } });
    expect(await findWebhook()).toMatchObject({ failureCount: 0, failuresInARow: 0 });
  });

  test('has one delivery per event and webhook, and any number of tests', async () => {
    const delivery = await insert(aDelivery(webhook));
    await insert(aDelivery(webhook, { eventId: delivery.eventId }));
    await insert(aDelivery(webhook, { eventId: delivery.eventId, isTest: true }));

    const page = { page: 1, limit: 10 };
    const { data, total } = await deliveryStore(given.db, SEALS).list(given.owner, webhook.id, {}, page);

    expect(total).toBe(2);
    expect(data).toContainEqual(delivery);
    const filters = { status: 'failed' } as const;
    expect((await deliveryStore(given.db, SEALS).list(given.owner, webhook.id, filters, page)).total).toBe(0);
    expect(
      (await deliveryStore(given.db, SEALS).list({ ...given.owner, mode: 'test' }, webhook.id, {}, page))
        .data,
    ).toEqual([]);
  });

  test('removes old deliveries in batches, and none that is being sent', async () => {
    const now = RECORD_TIME + DELIVERY_LIFETIME_MS;
    for (let i = 0; i < 3; i += 1) await insert(aDelivery(webhook, { createdAt: RECORD_TIME - 1 }));
    await take(1);
    const young = await insert(aDelivery(webhook));
    const remove = () =>
      deliveryStore(given.db, SEALS).removeOld({ before: now - DELIVERY_LIFETIME_MS, limit: 1 });

    expect([await remove(), await remove(), await remove()]).toEqual([1, 1, 0]);

    expect(await find(young.id)).toEqual(young);
    expect(await rowsOf(given.db, 'select id from deliveries')).toHaveLength(2);
  });
});

bothDatabases('new deliveries', databases => {
  // Of its own, because PostgreSQL fills the space of deleted rows first.
  const given = givenDatabase(databases, { isShared: false });

  test('are stored in the order of their ids, so that those taken together are read together', async () => {
    const webhook = aWebhook(given.owner);
    await transaction(given.db, handle => webhookStore(handle, SEALS).insert(webhook, aSecret()));
    const made = Array.from({ length: 20 }, () => ({ delivery: aDelivery(webhook), body: '{}' }));
    const ids = made.map(({ delivery }) => delivery.id).sort();

    const descending = made.toSorted((a, b) => (a.delivery.id < b.delivery.id ? 1 : -1));
    await deliveryStore(given.db, SEALS).insert([...descending.slice(7), ...descending.slice(0, 7)]);

    const row = databases.kind === 'sqlite' ? 'rowid' : 'ctid';
    const stored = await rowsOf<{ id: string }>(given.db, `select id from deliveries order by ${row}`);
    expect(stored.map(({ id }) => id)).toEqual(ids);
  });
});
