import { beforeEach, describe, expect, test } from 'vitest';
import { execute, rowsOf } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import { createLogger } from '#lib/logger.ts';
import { webhookPayload } from '#payments/events/event-data.ts';
import { eventStore } from '#payments/events/event-store.ts';
import { relay } from '#payments/events/relay.ts';
import type { PaymentEvent } from '#payments/model/event.ts';
import type { Subscription, Webhook } from '#payments/model/webhook.ts';
import { noticeQueue } from '#payments/notifications/store/notice-store.ts';
import { notificationStore } from '#payments/notifications/store/notification-store.ts';
import { seals } from '#payments/secrets/sealed.ts';
import { deliveryQueue } from '#payments/webhooks/delivery-queue.ts';
import { deliveryStore } from '#payments/webhooks/store/delivery-store.ts';
import { type WebhookChanges, webhookStore } from '#payments/webhooks/store/webhook-store.ts';
import { RECORD_TIME } from '../../lab/payments-records.ts';
import { bothDatabases } from '../../support/databases.ts';
import { givenDatabase } from '../../support/given-database.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { anEvent, aSecret, aWebhook } from '../../support/webhook-records.ts';

const SILENT = createLogger({ level: 'silent' });
const SEALS = seals(['a secret of tests that is long enough']);
const EVERYTHING: readonly Subscription[] = ['*'];
const NEVER = new AbortController().signal;
/** Time of the events in the cases. */
const T = RECORD_TIME + 10;

interface Case {
  readonly name: string;
  readonly events?: readonly Subscription[];
  /** Creation time of the webhook. It and all changes precede the run of the relay. */
  readonly createdAt: number;
  readonly changes?: readonly [at: number, changes: WebhookChanges][];
  readonly isTold: boolean;
}

const CASES: readonly Case[] = [
  { name: 'a webhook for all types', createdAt: T - 1, isTold: true },
  { name: 'a webhook created in the same millisecond', createdAt: T, isTold: true },
  { name: 'a webhook created a millisecond later', createdAt: T + 1, isTold: false },
  { name: 'a webhook for its type', events: ['checkout.expired'], createdAt: T - 1, isTold: true },
  { name: 'a webhook for other types', events: ['payment.failed'], createdAt: T - 1, isTold: false },
  {
    name: 'a webhook disabled before it',
    createdAt: T - 9,
    changes: [[T - 1, { isActive: false }]],
    isTold: false,
  },
  {
    name: 'a webhook disabled in the same millisecond',
    createdAt: T - 9,
    changes: [[T, { isActive: false }]],
    isTold: false,
  },
  {
    name: 'a webhook disabled later',
    createdAt: T - 9,
    changes: [[T + 1, { isActive: false }]],
    isTold: true,
  },
  {
    name: 'a webhook disabled and re-enabled later',
    createdAt: T - 9,
    changes: [
      [T + 1, { isActive: false }],
      [T + 2, { isActive: true }],
    ],
    isTold: true,
  },
  {
    name: 'a webhook enabled in the same millisecond',
    createdAt: T - 9,
    changes: [
      [T - 1, { isActive: false }],
      [T, { isActive: true }],
    ],
    isTold: true,
  },
  {
    name: 'a webhook disabled before it and enabled after it',
    createdAt: T - 9,
    changes: [
      [T - 1, { isActive: false }],
      [T + 1, { isActive: true }],
    ],
    isTold: false,
  },
  {
    name: 'a webhook that subscribed later',
    events: ['payment.failed'],
    createdAt: T - 9,
    changes: [[T + 1, { events: ['checkout.expired'] }]],
    isTold: false,
  },
  {
    name: 'a webhook that unsubscribed later',
    createdAt: T - 9,
    changes: [[T + 1, { events: ['payment.failed'] }]],
    isTold: true,
  },
  {
    name: 'a webhook whose address changed later',
    createdAt: T - 9,
    changes: [[T + 1, { url: 'https://b.example/' }]],
    isTold: true,
  },
];

bothDatabases('the relay', databases => {
  const given = givenDatabase(databases, { isShared: true });
  let clock: ManualClock;

  beforeEach(async () => {
    clock = manualClock(T + 100);
    for (const table of ['webhooks', 'notices', 'events']) await execute(given.db, `delete from ${table}`);
  });

  const insertWebhook = async (webhook: Webhook) => {
    await transaction(given.db, handle => webhookStore(handle, SEALS).insert(webhook, aSecret()));
    return webhook;
  };
  const occur = async (...events: PaymentEvent[]) => {
    await eventStore(given.db, SEALS).insert(events.map(event => ({ event, fact: event.id, order: 0 })));
    return events;
  };
  const run = (on = given.db) => relay({ db: on, seals: SEALS, clock, log: SILENT }).runOnce(NEVER);
  const deliveriesOf = async ({ id, organizationId, mode }: Webhook) =>
    (await deliveryStore(given.db, SEALS).list({ organizationId, mode }, id, {}, { page: 1, limit: 500 }))
      .data;

  describe('delivers an event to', () => {
    for (const { name, events = EVERYTHING, createdAt, changes = [], isTold } of CASES) {
      test(`${name}: ${isTold ? 'yes' : 'no'}`, async () => {
        const webhook = await insertWebhook(aWebhook(given.owner, { events, createdAt }));
        const [event] = await occur(anEvent(given.owner, { createdAt: T }));
        for (const [at, change] of changes) {
          await transaction(given.db, handle =>
            webhookStore(handle, SEALS).change(given.owner, webhook.id, change, at),
          );
        }

        expect(await run()).toBe(1);

        const told = (await deliveriesOf(webhook)).map(delivery => delivery.eventId);
        expect(told).toEqual(isTold ? [event?.id] : []);
      });
    }
  });

  test('delivers an event to no other organization or mode', async () => {
    const ours = await insertWebhook(aWebhook(given.owner));
    const inTest = await insertWebhook(aWebhook({ ...given.owner, mode: 'test' }));
    const theirs = await insertWebhook(aWebhook(await given.newOwner()));
    const [event, tested] = await occur(anEvent(given.owner), anEvent({ ...given.owner, mode: 'test' }));

    await run();

    expect((await deliveriesOf(ours)).map(one => one.eventId)).toEqual([event?.id]);
    expect((await deliveriesOf(inTest)).map(one => one.eventId)).toEqual([tested?.id]);
    expect(await deliveriesOf(theirs)).toEqual([]);
  });

  test('creates a delivery that is due at once, with its final body', async () => {
    const webhook = await insertWebhook(aWebhook(given.owner));
    const event = anEvent(given.owner);
    await occur(event);

    await run();

    const queue = deliveryQueue({ db: given.db, seals: SEALS, clock, log: SILENT });
    const { begun } = await queue.exchange({ wanted: [{ webhookId: webhook.id, limit: 5 }] });
    expect(begun[0]?.deliveries).toMatchObject([
      { eventId: event.id, eventType: event.type, isTest: false, body: webhookPayload(event, webhook.id) },
    ]);
  });

  test('creates one delivery per event and webhook, even with concurrent relays', async () => {
    const webhooks = [await insertWebhook(aWebhook(given.owner)), await insertWebhook(aWebhook(given.owner))];
    const events = await occur(...Array.from({ length: 250 }, () => anEvent(given.owner)));

    let relayed = 0;
    for (let round = 0; round < 9 && relayed < events.length; round += 1) {
      const runs = await Promise.all([run(), run(given.other), run(), run(given.other)]);
      relayed += runs.reduce((sum, count) => sum + count, 0);
    }

    expect(relayed).toBe(events.length);
    expect(await run()).toBe(0);
    for (const webhook of webhooks) {
      const told = (await deliveriesOf(webhook)).map(one => one.eventId);
      expect(told.sort()).toEqual(events.map(event => event.id).sort());
    }
  });

  test('repeats unfinished work of a dead process without duplicates', async () => {
    const webhook = await insertWebhook(aWebhook(given.owner));
    const [event] = await occur(anEvent(given.owner));
    // State after a process died between writing the delivery and finishing the event.
    await run();
    await execute(given.db, 'update events set next_attempt_at = ?, locked_until = ?, locked_by = ?', [
      RECORD_TIME,
      clock.now() + 1,
      'a process that died',
    ]);
    const [before] = await deliveriesOf(webhook);

    expect(await run()).toBe(0);
    clock.advance(1);
    expect(await run()).toBe(1);

    expect(await deliveriesOf(webhook)).toEqual([before]);
    expect(before?.eventId).toBe(event?.id);
  });

  test('retries an event later when its notices cannot be written', async () => {
    const webhook = await insertWebhook(aWebhook(given.owner));
    await occur(anEvent(given.owner));
    await execute(given.db, 'alter table notices rename to lost_notices');
    const settings = await notificationStore(given.db).find(given.owner);
    if (settings === undefined) throw new Error('the organization has no settings');
    const mailed = { ...settings, emailEnabled: true, emailAddress: 'a@books.example' };
    await notificationStore(given.db).save({ ...mailed, enabledEvents: ['payment.failed'] });
    await occur(anEvent(given.owner, { type: 'payment.failed' }));

    await expect(run()).rejects.toThrow();
    const meanwhile = await deliveriesOf(webhook);
    await execute(given.db, 'alter table lost_notices rename to notices');

    expect(meanwhile).toEqual([]);
    expect(await run()).toBe(2);
    expect(await deliveriesOf(webhook)).toHaveLength(2);
  });

  test('creates a notice of each enabled event for each enabled channel', async () => {
    const settings = await notificationStore(given.db).find(given.owner);
    if (settings === undefined) throw new Error('the organization has no settings');
    await notificationStore(given.db).save({
      ...settings,
      emailEnabled: true,
      emailAddress: 'a@books.example',
      messengerEnabled: true,
      messengerChatId: '5092331',
      enabledEvents: ['payment.failed'],
    });
    const [failed] = await occur(
      anEvent(given.owner, { type: 'payment.failed' }),
      anEvent(given.owner, { type: 'payment.completed' }),
      anEvent(given.owner),
      anEvent({ ...given.owner, mode: 'test' }, { type: 'payment.failed' }),
      anEvent(await given.newOwner(), { type: 'payment.failed' }),
    );

    expect(await run()).toBe(5);

    const queue = noticeQueue({ db: given.db, seals: SEALS, clock, log: SILENT });
    const taken = [...(await queue.take('email', 9)), ...(await queue.take('messenger', 9))];
    expect(taken.map(({ channel, payload }) => ({ channel, payload }))).toEqual([
      { channel: 'email', payload: { kind: 'payment', event: failed } },
      { channel: 'messenger', payload: { kind: 'payment', event: failed } },
    ]);
  });

  test('leaves no delivery for a webhook that is deleted during the relay', async () => {
    const webhook = await insertWebhook(aWebhook(given.owner));
    await occur(...Array.from({ length: 50 }, () => anEvent(given.owner)));

    await Promise.all([
      run(given.other),
      transaction(given.db, handle => webhookStore(handle, SEALS).markDeleted(given.owner, webhook.id, 1)),
    ]);
    while ((await webhookStore(given.db, SEALS).removeDeleted(500)) > 0);

    expect(await run()).toBe(0);
    expect(await rowsOf(given.db, 'select id from deliveries')).toEqual([]);
  });
});
