import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Db, openDatabase } from '#db/open.ts';
import { execute, rowsOf } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import { createLogger } from '#lib/logger.ts';
import { webhookPayload } from '#payments/events/event-data.ts';
import { eventStore } from '#payments/events/event-store.ts';
import { relay } from '#payments/events/relay.ts';
import type { PaymentEvent } from '#payments/model/event.ts';
import type { Owner } from '#payments/model/owner.ts';
import type { Subscription, Webhook } from '#payments/model/webhook.ts';
import { noticeQueue } from '#payments/notifications/store/notice-store.ts';
import { notificationStore } from '#payments/notifications/store/notification-store.ts';
import { seals } from '#payments/secrets/sealed.ts';
import { organizationStore } from '#payments/store/organization-store.ts';
import { deliveryQueue } from '#payments/webhooks/delivery-queue.ts';
import { deliveryStore } from '#payments/webhooks/store/delivery-store.ts';
import { type WebhookChanges, webhookStore } from '#payments/webhooks/store/webhook-store.ts';
import { eachDatabase } from '../../support/databases.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { anOrganization, RECORD_TIME } from '../../support/payments-records.ts';
import { anEvent, aSecret, aWebhook } from '../../support/webhook-records.ts';

const SILENT = createLogger({ level: 'silent' });
const SEALS = seals(['a secret of tests that is long enough']);
const EVERYTHING: readonly Subscription[] = ['*'];
const NEVER = new AbortController().signal;
/** When the events of the cases occur. */
const T = RECORD_TIME + 10;

interface Case {
  readonly name: string;
  readonly events?: readonly Subscription[];
  /** When the webhook was made, and what its owner changed when; all of it before the relay runs. */
  readonly createdAt: number;
  readonly changes?: readonly [at: number, changes: WebhookChanges][];
  readonly isTold: boolean;
}

const CASES: readonly Case[] = [
  { name: 'one for everything', createdAt: T - 1, isTold: true },
  { name: 'one made in the same millisecond', createdAt: T, isTold: true },
  { name: 'one made a millisecond later', createdAt: T + 1, isTold: false },
  { name: 'one for this type', events: ['checkout.expired'], createdAt: T - 1, isTold: true },
  { name: 'one for other types', events: ['payment.failed'], createdAt: T - 1, isTold: false },
  {
    name: 'one switched off before',
    createdAt: T - 9,
    changes: [[T - 1, { isActive: false }]],
    isTold: false,
  },
  {
    name: 'one switched off just then',
    createdAt: T - 9,
    changes: [[T, { isActive: false }]],
    isTold: false,
  },
  { name: 'one switched off later', createdAt: T - 9, changes: [[T + 1, { isActive: false }]], isTold: true },
  {
    name: 'one switched off and on later',
    createdAt: T - 9,
    changes: [
      [T + 1, { isActive: false }],
      [T + 2, { isActive: true }],
    ],
    isTold: true,
  },
  {
    name: 'one switched on just then',
    createdAt: T - 9,
    changes: [
      [T - 1, { isActive: false }],
      [T, { isActive: true }],
    ],
    isTold: true,
  },
  {
    name: 'one that was off meanwhile',
    createdAt: T - 9,
    changes: [
      [T - 1, { isActive: false }],
      [T + 1, { isActive: true }],
    ],
    isTold: false,
  },
  {
    name: 'one that subscribed later',
    events: ['payment.failed'],
    createdAt: T - 9,
    changes: [[T + 1, { events: ['checkout.expired'] }]],
    isTold: false,
  },
  {
    name: 'one that unsubscribed later',
    createdAt: T - 9,
    changes: [[T + 1, { events: ['payment.failed'] }]],
    isTold: true,
  },
  {
    name: 'one that moved later',
    createdAt: T - 9,
    changes: [[T + 1, { url: 'https://b.example/' }]],
    isTold: true,
  },
];

eachDatabase('the relay', databases => {
  let db: Db;
  let other: Db;
  let clock: ManualClock;
  let owner: Owner;

  beforeAll(async () => {
    const options = await databases.create('payments');
    db = openDatabase(options);
    other = openDatabase(options);
  });

  beforeEach(async () => {
    clock = manualClock(T + 100);
    for (const table of ['webhooks', 'notices', 'events']) await execute(db, `delete from ${table}`);
    owner = await anOwner();
  });

  afterAll(() => Promise.all([db.destroy(), other.destroy()]));

  const anOwner = async (): Promise<Owner> => {
    const organization = anOrganization();
    await organizationStore(db).insert(organization);
    return { organizationId: organization.id, mode: 'live' };
  };
  const insertWebhook = async (webhook: Webhook) => {
    await transaction(db, handle => webhookStore(handle, SEALS).insert(webhook, aSecret()));
    return webhook;
  };
  const occur = async (...events: PaymentEvent[]) => {
    await eventStore(db, SEALS).insert(events.map(event => ({ event, fact: event.id, place: 0 })));
    return events;
  };
  const run = (on = db) => relay({ db: on, seals: SEALS, clock, log: SILENT }).runOnce(NEVER);
  const deliveriesOf = async ({ id, organizationId, mode }: Webhook) =>
    (await deliveryStore(db, SEALS).list({ organizationId, mode }, id, {}, { page: 1, limit: 500 })).data;

  describe('of an event tells', () => {
    for (const { name, events = EVERYTHING, createdAt, changes = [], isTold } of CASES) {
      test(`${name}: ${isTold ? 'yes' : 'no'}`, async () => {
        const webhook = await insertWebhook(aWebhook(owner, { events, createdAt }));
        const [event] = await occur(anEvent(owner, { createdAt: T }));
        for (const [at, change] of changes) {
          await transaction(db, handle => webhookStore(handle, SEALS).change(owner, webhook.id, change, at));
        }

        expect(await run()).toBe(1);

        const told = (await deliveriesOf(webhook)).map(delivery => delivery.eventId);
        expect(told).toEqual(isTold ? [event?.id] : []);
      });
    }
  });

  test('tells an event to no other organization and no other mode', async () => {
    const ours = await insertWebhook(aWebhook(owner));
    const inTest = await insertWebhook(aWebhook({ ...owner, mode: 'test' }));
    const theirs = await insertWebhook(aWebhook(await anOwner()));
    const [event, tested] = await occur(anEvent(owner), anEvent({ ...owner, mode: 'test' }));

    await run();

    expect((await deliveriesOf(ours)).map(one => one.eventId)).toEqual([event?.id]);
    expect((await deliveriesOf(inTest)).map(one => one.eventId)).toEqual([tested?.id]);
    expect(await deliveriesOf(theirs)).toEqual([]);
  });

  test('makes a delivery that is due at once, with the body that is sent', async () => {
    const webhook = await insertWebhook(aWebhook(owner));
    const event = anEvent(owner);
    await occur(event);

    await run();

    const queue = deliveryQueue({ db, seals: SEALS, clock, log: SILENT });
    const [claim] = await queue.takeDue([{ webhookId: webhook.id, limit: 5 }]);
    expect(claim?.deliveries).toMatchObject([
      { eventId: event.id, eventType: event.type, isTest: false, body: webhookPayload(event, webhook.id) },
    ]);
  });

  test('makes one delivery of each event and webhook, however many relays are at it', async () => {
    const webhooks = [await insertWebhook(aWebhook(owner)), await insertWebhook(aWebhook(owner))];
    const events = await occur(...Array.from({ length: 250 }, () => anEvent(owner)));

    let relayed = 0;
    for (let round = 0; round < 9 && relayed < events.length; round += 1) {
      const runs = await Promise.all([run(), run(other), run(), run(other)]);
      relayed += runs.reduce((sum, count) => sum + count, 0);
    }

    expect(relayed).toBe(events.length);
    expect(await run()).toBe(0);
    for (const webhook of webhooks) {
      const told = (await deliveriesOf(webhook)).map(one => one.eventId);
      expect(told.sort()).toEqual(events.map(event => event.id).sort());
    }
  });

  test('does again what it died over, and nothing twice', async () => {
    const webhook = await insertWebhook(aWebhook(owner));
    const [event] = await occur(anEvent(owner));
    // What a process leaves that wrote the delivery and never came to say so.
    await run();
    await execute(db, 'update events set next_attempt_at = ?, locked_until = ?, locked_by = ?', [
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

  test('leaves an event for the next time when it cannot write what the event tells', async () => {
    const webhook = await insertWebhook(aWebhook(owner));
    await occur(anEvent(owner));
    await execute(db, 'alter table notices rename to lost_notices');
    const settings = await notificationStore(db).find(owner);
    if (settings === undefined) throw new Error('the organization has no settings');
    const mailed = { ...settings, emailEnabled: true, emailAddress: 'a@books.example' };
    await notificationStore(db).save({ ...mailed, enabledEvents: ['payment.failed'] });
    await occur(anEvent(owner, { type: 'payment.failed' }));

    await expect(run()).rejects.toThrow();
    const meanwhile = await deliveriesOf(webhook);
    await execute(db, 'alter table lost_notices rename to notices');

    expect(meanwhile).toEqual([]);
    expect(await run()).toBe(2);
    expect(await deliveriesOf(webhook)).toHaveLength(2);
  });

  test('makes a notice for each channel that is enabled, of the events that are', async () => {
    const settings = await notificationStore(db).find(owner);
    if (settings === undefined) throw new Error('the organization has no settings');
    await notificationStore(db).save({
      ...settings,
      emailEnabled: true,
      emailAddress: 'a@books.example',
      messengerEnabled: true,
      messengerChatId: '5092331',
      enabledEvents: ['payment.failed'],
    });
    const [failed] = await occur(
      anEvent(owner, { type: 'payment.failed' }),
      anEvent(owner, { type: 'payment.completed' }),
      anEvent(owner),
      anEvent({ ...owner, mode: 'test' }, { type: 'payment.failed' }),
      anEvent(await anOwner(), { type: 'payment.failed' }),
    );

    expect(await run()).toBe(5);

    const queue = noticeQueue({ db, seals: SEALS, clock, log: SILENT });
    const taken = [...(await queue.take('email', 9)), ...(await queue.take('messenger', 9))];
    expect(taken.map(({ channel, payload }) => ({ channel, payload }))).toEqual([
      { channel: 'email', payload: { kind: 'payment', event: failed } },
      { channel: 'messenger', payload: { kind: 'payment', event: failed } },
    ]);
  });

  test('holds every delivery of a webhook that was deleted meanwhile to be nothing', async () => {
    const webhook = await insertWebhook(aWebhook(owner));
    await occur(...Array.from({ length: 50 }, () => anEvent(owner)));

    await Promise.all([
      run(other),
      transaction(db, handle => webhookStore(handle, SEALS).remove(owner, webhook.id)),
    ]);

    expect(await run()).toBe(0);
    expect(await rowsOf(db, 'select id from deliveries')).toEqual([]);
  });
});
