import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Db, openDatabase, type Transaction } from '#db/open.ts';
import { rowsOf } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import { newId } from '#lib/ids.ts';
import { createLogger } from '#lib/logger.ts';
import { HOLD_LIMIT_MS } from '#payments/model/delivery.ts';
import type { Owner } from '#payments/model/owner.ts';
import type { Webhook } from '#payments/model/webhook.ts';
import { seals } from '#payments/secrets/sealed.ts';
import { organizationStore } from '#payments/store/organization-store.ts';
import { deliveryQueue } from '#payments/webhooks/delivery-queue.ts';
import { deliveryStore } from '#payments/webhooks/store/delivery-store.ts';
import {
  type WebhookChanges,
  type WebhookStore,
  webhookStore,
} from '#payments/webhooks/store/webhook-store.ts';
import { anOrganization, RECORD_TIME } from '../../lab/payments-records.ts';
import { bothDatabases } from '../../support/databases.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { aDelivery, aSecret, aWebhook } from '../../support/webhook-records.ts';

const SILENT = createLogger({ level: 'silent' });
const SEALS = seals(['a secret of tests that is long enough']);
const FIRST = { page: 1, limit: 100 };

bothDatabases('the webhooks', databases => {
  let db: Db;
  let owner: Owner;

  beforeAll(async () => {
    db = openDatabase(await databases.create('payments'));
  });

  beforeEach(async () => {
    const organization = anOrganization();
    await organizationStore(db).insert(organization);
    owner = { organizationId: organization.id, mode: 'live' };
  });

  afterAll(() => db.destroy());

  const within = <T>(work: (store: WebhookStore, handle: Transaction) => Promise<T>) =>
    transaction(db, handle => work(webhookStore(handle, SEALS), handle));
  const insert = async (webhook: Webhook, secret = aSecret()) => {
    await within(store => store.insert(webhook, secret));
    return webhook;
  };
  const find = (id: string) => webhookStore(db, SEALS).find(owner, id);

  test('are returned unchanged, and only to their owner and mode', async () => {
    const webhook = await insert(aWebhook(owner, { events: ['payment.failed'], description: 'Orders' }));
    const store = webhookStore(db, SEALS);

    expect(await find(webhook.id)).toEqual(webhook);
    expect(await store.find({ ...owner, mode: 'test' }, webhook.id)).toBeUndefined();
    expect(await store.secrets({ ...owner, mode: 'test' }, webhook.id)).toBeUndefined();
    expect((await store.list({ ...owner, mode: 'test' }, FIRST)).data).toEqual([]);
    expect(await within(other => other.markDeleted({ ...owner, mode: 'test' }, webhook.id, 1))).toBe(false);
    expect(
      await within(other => other.change({ ...owner, mode: 'test' }, webhook.id, {}, 1)),
    ).toBeUndefined();
    expect(await find(webhook.id)).toEqual(webhook);
  });

  test('are listed newest first, and counted', async () => {
    const old = await insert(aWebhook(owner));
    const young = await insert(aWebhook(owner, { createdAt: RECORD_TIME + 1 }));

    expect((await webhookStore(db, SEALS).list(owner, FIRST)).data).toEqual([young, old]);
    expect(await webhookStore(db, SEALS).count(owner)).toBe(2);
  });

  test('keep their subscription until their events change or they are switched', async () => {
    const { id } = await insert(aWebhook(owner, { events: ['payment.failed'] }));
    const change = (changes: WebhookChanges, at: number) =>
      within(store => store.change(owner, id, changes, RECORD_TIME + at));
    const subscribed = () =>
      rowsOf<{ since: number; until: number | null }>(
        db,
        'select since, until from webhook_subscriptions where webhook_id = ? order by since',
        [id],
      );
    const [from, first, second] = [RECORD_TIME, RECORD_TIME + 2, RECORD_TIME + 3];

    await change({ description: 'Orders', url: 'https://other.example/', events: ['payment.failed'] }, 1);
    expect(await subscribed()).toEqual([{ since: from, until: null }]);
    await change({ events: ['*'] }, 2);
    await change({ isActive: false }, 3);

    expect(await subscribed()).toEqual([
      { since: from, until: first },
      { since: first, until: second },
    ]);
  });

  test('store their secrets encrypted', async () => {
    const secret = aSecret();
    const { id } = await insert(aWebhook(owner), secret);
    await within(store => store.rotate(owner, id, { secret: aSecret(), previousUntil: 1 }, RECORD_TIME));

    const rows = await rowsOf(db, 'select * from webhooks where id = ?', [id]);

    expect(JSON.stringify(rows)).not.toContain(secret);
    expect(JSON.stringify(rows)).not.toContain('whsec');
  });

  test('after a rotation keep the old secret until a given time or not at all', async () => {
    const [first, second, third] = [aSecret(), aSecret(), aSecret()];
    const { id } = await insert(aWebhook(owner), first);
    const until = RECORD_TIME + 1_000;

    const rotated = await within(store =>
      store.rotate(owner, id, { secret: second, previousUntil: until }, RECORD_TIME + 1),
    );
    const both = await webhookStore(db, SEALS).secrets(owner, id);
    await within(store => store.rotate(owner, id, { secret: third, previousUntil: null }, RECORD_TIME + 2));

    expect(rotated).toMatchObject({ previousSecretUntil: until, updatedAt: RECORD_TIME + 1 });
    expect(both).toEqual({ current: second, previous: { secret: first, until } });
    expect(await webhookStore(db, SEALS).secrets(owner, id)).toEqual({ current: third, previous: null });
    expect((await find(id))?.previousSecretUntil).toBeNull();
  });

  test('lose no count to a concurrent change of their settings', async () => {
    const webhook = await insert(aWebhook(owner));
    const clock = manualClock(RECORD_TIME);
    const queue = deliveryQueue({ db, seals: SEALS, clock, log: SILENT });
    const deliveries = Array.from({ length: 20 }, () => ({ delivery: aDelivery(webhook), body: '{}' }));
    await deliveryStore(db, SEALS).insert(deliveries);
    const [claim] = (await queue.exchange({ wanted: [{ webhookId: webhook.id, limit: 20 }] })).begun;
    const settle = ({ id, token }: { id: string; token: string }) =>
      queue.exchange({
        results: [
          {
            id,
            token,
            sentTo: webhook.url,
            sentBody: '{}',
            isSuccess: true,
            responseCode: 200,
            responseTimeMs: 1,
            error: null,
            responseBody: null,
            endedAt: 1,
            jitter: 0,
          },
        ],
      });

    await Promise.all([
      ...(claim?.deliveries ?? []).map(settle),
      ...Array.from({ length: 10 }, (_, i) =>
        within(store => store.change(owner, webhook.id, { description: `${i}` }, RECORD_TIME + i)),
      ),
    ]);

    expect(claim?.deliveries).toHaveLength(20);
    expect(await find(webhook.id)).toMatchObject({
      successCount: 20,
      failureCount: 0,
      lastTriggeredAt: RECORD_TIME,
    });
  });

  test('hold due deliveries while disabled, and send them once enabled', async () => {
    const webhook = await insert(aWebhook(owner));
    const held = aDelivery(webhook, { createdAt: RECORD_TIME });
    const tooOld = aDelivery(webhook, { createdAt: RECORD_TIME - 1 });
    await deliveryStore(db, SEALS).insert([held, tooOld].map(delivery => ({ delivery, body: '{}' })));
    const now = RECORD_TIME + HOLD_LIMIT_MS;
    const queue = deliveryQueue({ db, seals: SEALS, clock: manualClock(now), log: SILENT });
    const due = async () => (await queue.webhooksWithDue()).map(one => one.webhookId);
    const take = async () =>
      (await queue.exchange({ wanted: [{ webhookId: webhook.id, limit: 9 }] })).begun[0]?.deliveries ?? [];

    await within(store => store.change(owner, webhook.id, { isActive: false }, RECORD_TIME + 1));
    expect(await due()).not.toContain(webhook.id);
    expect(await take()).toEqual([]);

    await within(store => store.change(owner, webhook.id, { isActive: true }, now));
    expect(await due()).toContain(webhook.id);
    expect((await take()).map(({ id }) => id)).toEqual([held.id]);
    expect(await deliveryStore(db, SEALS).find(owner, webhook.id, tooOld.id)).toEqual({
      ...tooOld,
      status: 'failed',
      nextAttemptAt: null,
    });
    expect(await find(webhook.id)).toMatchObject({ failureCount: 0, failuresInARow: 0 });
  });

  test('are removed with their pending deliveries, and results of attempts under way are ignored', async () => {
    const webhook = await insert(aWebhook(owner));
    const delivery = aDelivery(webhook);
    await deliveryStore(db, SEALS).insert([{ delivery, body: '{}' }]);
    const queue = deliveryQueue({ db, seals: SEALS, clock: manualClock(RECORD_TIME), log: SILENT });
    const [claim] = (await queue.exchange({ wanted: [{ webhookId: webhook.id, limit: 1 }] })).begun;
    const token = claim?.deliveries[0]?.token ?? '';

    expect(await within(store => store.markDeleted(owner, webhook.id, RECORD_TIME))).toBe(true);
    expect(await within(store => store.markDeleted(owner, webhook.id, RECORD_TIME))).toBe(false);
    const removed = [500, 500, 500].map(limit => () => webhookStore(db, SEALS).removeDeleted(limit));
    const counts = [];
    for (const remove of removed) counts.push(await remove());
    expect(counts).toEqual([1, 1, 0]);

    const result = {
      sentTo: webhook.url,
      sentBody: '{}',
      responseCode: 200,
      responseTimeMs: 1,
      error: null,
      responseBody: null,
      endedAt: RECORD_TIME,
      jitter: 0,
    };
    const results = [{ ...result, id: delivery.id, token, isSuccess: true }];
    expect((await queue.exchange({ results })).ended).toEqual([]);
    expect(await rowsOf(db, 'select * from deliveries where webhook_id = ?', [webhook.id])).toEqual([]);
    expect(
      await rowsOf(db, 'select * from webhook_subscriptions where webhook_id = ?', [webhook.id]),
    ).toEqual([]);
    expect(await within(store => store.markDeleted(owner, newId('wh'), 1))).toBe(false);
  });
});
