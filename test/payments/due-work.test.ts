import { expect } from 'vitest';
import { isShared } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import { silentLogger } from '#lib/logger.ts';
import { dueWorkWorker } from '#payments/due-work.ts';
import { eventStore } from '#payments/events/event-store.ts';
import { noticeQueue, noticeStore } from '#payments/notifications/store/notice-store.ts';
import { seals } from '#payments/secrets/sealed.ts';
import { sessionStore } from '#payments/sessions/session-store.ts';
import { deliveryStore } from '#payments/webhooks/store/delivery-store.ts';
import { takeDeliveries } from '#payments/webhooks/store/due-deliveries.ts';
import { webhookStore } from '#payments/webhooks/store/webhook-store.ts';
import { aSession } from '../lab/payments-sessions.ts';
import { until } from '../lab/until.ts';
import { eachPaymentsDatabase } from '../support/each-payments-database.ts';
import { manualClock } from '../support/manual-clock.ts';
import { aNotice } from '../support/notification-records.ts';
import { aDelivery, anEvent, aSecret, aWebhook } from '../support/webhook-records.ts';

const SEALED = seals(['a secret that only this test knows, and long']);
const NEVER = new AbortController().signal;
/** Time at which all the work becomes due. */
const DUE_AT = Date.UTC(2027, 0, 1);

eachPaymentsDatabase('the look for due work', test => {
  test('wakes the workers with due work, and no others', async ({ db, owner }) => {
    const webhook = aWebhook(owner);
    await transaction(db, async handle => {
      await eventStore(handle, SEALED).insert([
        { event: anEvent(owner, { createdAt: DUE_AT }), fact: 'one', order: 0 },
      ]);
      await webhookStore(handle, SEALED).insert(webhook, aSecret());
      const delivery = aDelivery(webhook, { nextAttemptAt: DUE_AT });
      await deliveryStore(handle, SEALED).insert([{ delivery, body: '{}' }]);
      await noticeStore(handle, SEALED).insert([aNotice(owner, { createdAt: DUE_AT })]);
      await sessionStore(handle, SEALED).open(aSession(owner, { expiresAt: DUE_AT }));
    });
    const topics = ['events', 'deliveries', 'notices', 'sessions'] as const;
    const woken: string[] = [];
    for (const topic of topics) db.wakeups.on(topic, () => void woken.push(topic));
    // A connection that begins to listen wakes every worker once.
    if (isShared(db)) await until(async () => db.wakeups.isListening(), Boolean);
    const clock = manualClock(DUE_AT - 1);
    const look = async () => {
      woken.length = 0;
      await dueWorkWorker({ db, clock, topics }).runOnce(NEVER);
      return [...woken];
    };

    const before = await look();
    clock.advance(1);
    const due = await look();

    expect({ before, due: due.sort() }).toEqual({ before: [], due: topics.toSorted() });
  });

  test('ends leases from before the clock was set back, and wakes their workers', async ({ db, owner }) => {
    const webhook = aWebhook(owner);
    await transaction(db, async handle => {
      await webhookStore(handle, SEALED).insert(webhook, aSecret());
      const delivery = aDelivery(webhook, { nextAttemptAt: DUE_AT });
      await deliveryStore(handle, SEALED).insert([{ delivery, body: '{}' }]);
      await noticeStore(handle, SEALED).insert([aNotice(owner, { createdAt: DUE_AT })]);
    });
    const clock = manualClock(DUE_AT);
    const deps = { seals: SEALED, clock, log: silentLogger() };
    const takeBoth = async () => [
      ...(await transaction(db, handle => takeDeliveries(handle, { webhookId: webhook.id, limit: 1 }, deps))),
      ...(await noticeQueue({ db, ...deps }).take('email', 1)),
    ];
    expect(await takeBoth()).toHaveLength(2);
    const woken = new Set<string>();
    for (const topic of ['deliveries', 'notices']) db.wakeups.on(topic, () => void woken.add(topic));
    if (isShared(db)) await until(async () => db.wakeups.isListening(), Boolean);
    woken.clear();

    clock.advance(-40 * 60_000);
    const before = await takeBoth();
    await dueWorkWorker({ db, clock, topics: ['deliveries', 'notices'] }).runOnce(NEVER);

    expect(before).toEqual([]);
    expect([...woken].sort()).toEqual(['deliveries', 'notices']);
    expect(await takeBoth()).toHaveLength(2);
  });
});
