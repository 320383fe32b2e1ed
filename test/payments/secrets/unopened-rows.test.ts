import { beforeEach, expect, test } from 'vitest';
import { execute, rowsOf } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import { newId } from '#lib/ids.ts';
import { createLogger } from '#lib/logger.ts';
import { eventStore } from '#payments/events/event-store.ts';
import { relay } from '#payments/events/relay.ts';
import { attemptBegun } from '#payments/model/delivery.ts';
import type { Delivery, Webhook } from '#payments/model/webhook.ts';
import { noticeQueue, noticeStore } from '#payments/notifications/store/notice-store.ts';
import { seals } from '#payments/secrets/sealed.ts';
import { openEach } from '#payments/secrets/unopened-rows.ts';
import { deliveryQueue } from '#payments/webhooks/delivery-queue.ts';
import { deliveryStore } from '#payments/webhooks/store/delivery-store.ts';
import { LEASE_MS } from '#payments/webhooks/store/due-deliveries.ts';
import { webhookStore } from '#payments/webhooks/store/webhook-store.ts';
import { RECORD_TIME } from '../../lab/payments-records.ts';
import { bothDatabases } from '../../support/databases.ts';
import { givenDatabase } from '../../support/given-database.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { aNotice } from '../../support/notification-records.ts';
import { aDelivery, anEvent, aSecret, aWebhook } from '../../support/webhook-records.ts';

const SEALS = seals(['a secret of tests that is long enough']);
const LOST = seals(['a secret that was lost together with its file']);
const NEVER = new AbortController().signal;
/** Longer than any lease. */
const LATER_MS = 10 * 60_000;

bothDatabases('a row with a sealed value that does not open', databases => {
  const given = givenDatabase(databases, { isShared: true });
  let clock: ManualClock;
  let lines: string[];

  beforeEach(async () => {
    clock = manualClock(RECORD_TIME);
    lines = [];
    for (const table of ['webhooks', 'notices', 'events']) await execute(given.db, `delete from ${table}`);
  });

  const deps = () => ({
    db: given.db,
    seals: SEALS,
    clock,
    log: createLogger({ level: 'trace', destination: { write: line => void lines.push(line) } }),
  });
  const webhookOf = async (sealedBy = SEALS) => {
    const webhook = aWebhook(given.owner);
    await transaction(given.db, handle => webhookStore(handle, sealedBy).insert(webhook, aSecret()));
    return webhook;
  };
  const deliver = async (webhook: Webhook, changes: Partial<Delivery> = {}, sealedBy = SEALS) => {
    const delivery = aDelivery(webhook, changes);
    await deliveryStore(given.db, sealedBy).insert([{ delivery, body: '{"to":"Grace"}' }]);
    return delivery;
  };
  const find = ({ webhookId, id }: Delivery) =>
    deliveryStore(given.db, SEALS).find(given.owner, webhookId, id);
  const take = async (...webhooks: Webhook[]) => {
    const { begun } = await deliveryQueue(deps()).exchange({
      wanted: webhooks.map(({ id }) => ({ webhookId: id, limit: 9 })),
    });
    return begun.flatMap(({ deliveries }) => deliveries.map(({ id }) => id));
  };
  const damage = async (table: string, column: string, id: string) => {
    const [row] = await rowsOf<{ value: string }>(
      given.db,
      `select ${column} as value from ${table} where id = ?`,
      [id],
    );
    const value = row?.value ?? '';
    const write = (text: string) =>
      execute(given.db, `update ${table} set ${column} = ? where id = ?`, [text, id]);
    await write(value.slice(0, -6));
    return { value, repair: () => write(value) };
  };

  test('an event: the others are relayed, and it follows once it opens', async () => {
    const webhook = await webhookOf();
    const events = [anEvent(given.owner), anEvent(given.owner), anEvent(given.owner)];
    const [broken = anEvent(given.owner), ...others] = events;
    await eventStore(given.db, SEALS).insert(events.map(event => ({ event, fact: event.id, order: 0 })));
    const { value, repair } = await damage('events', 'sealed_data', broken.id);
    const relaying = relay(deps());
    const relayed = async () =>
      (
        await rowsOf<{ event_id: string }>(given.db, 'select event_id from deliveries where webhook_id = ?', [
          webhook.id,
        ])
      )
        .map(row => row.event_id)
        .sort();

    await relaying.runOnce(NEVER);

    expect(await relayed()).toEqual(others.map(({ id }) => id).sort());
    expect(await relaying.runOnce(NEVER)).toBe(0);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(`"id":"${broken.id}"`);
    expect(lines[0]).toContain(`The value of events.sealed_data of ${broken.id} is damaged.`);
    expect(lines[0]).not.toContain(value.slice(12, 40));

    await repair();
    clock.advance(LATER_MS);
    await relaying.runOnce(NEVER);
    expect(await relayed()).toEqual(events.map(({ id }) => id).sort());
  });

  test('a hundred events: later ones are still relayed', async () => {
    const webhook = await webhookOf();
    const lost = Array.from({ length: 150 }, () => anEvent(given.owner));
    const event = anEvent(given.owner, { createdAt: RECORD_TIME + 1 });
    await eventStore(given.db, LOST).insert(lost.map(one => ({ event: one, fact: one.id, order: 0 })));
    await eventStore(given.db, SEALS).insert([{ event, fact: event.id, order: 0 }]);
    clock.advance(1);
    const relaying = relay(deps());

    for (let run = 0; run < 5 && (await relaying.runOnce(NEVER)) > 0; run += 1);

    expect(await rowsOf(given.db, 'select webhook_id, event_id from deliveries')).toEqual([
      { webhook_id: webhook.id, event_id: event.id },
    ]);
  });

  test('a delivery: the others begin, and it counts no attempt until it opens', async () => {
    const webhook = await webhookOf();
    const broken = await deliver(webhook);
    const other = await deliver(webhook);
    const { value, repair } = await damage('deliveries', 'sealed_body', broken.id);

    expect(await take(webhook)).toEqual([other.id]);

    expect(await find(broken)).toEqual({ ...broken, nextAttemptAt: clock.now() + LEASE_MS });
    expect(await deliveryQueue(deps()).webhooksWithDue()).toEqual([]);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(`The value of deliveries.sealed_body of ${broken.id} is damaged.`);
    expect(lines[0]).not.toContain(value.slice(12, 40));

    await repair();
    clock.advance(LEASE_MS);
    expect(await take(webhook)).toContain(broken.id);
    expect(await find(broken)).toEqual({ ...broken, ...attemptBegun(broken, 'automatic') });
  });

  test('an interrupted delivery: it keeps its count of attempts', async () => {
    const webhook = await webhookOf();
    const broken = await deliver(webhook);
    await take(webhook);
    clock.advance(LEASE_MS);
    await damage('deliveries', 'sealed_body', broken.id);

    expect(await take(webhook)).toEqual([]);

    expect(await find(broken)).toMatchObject({ attempts: 1, sending: null, status: 'pending' });
  });

  test('a webhook: the others get deliveries, and its own wait without an attempt', async () => {
    const [broken, other] = [await webhookOf(LOST), await webhookOf()];
    const waiting = [await deliver(broken), await deliver(broken, { nextAttemptAt: RECORD_TIME - 1 })];
    const later = await deliver(broken, { nextAttemptAt: RECORD_TIME + 1 });
    const sent = await deliver(other);

    expect(await take(broken, other)).toEqual([sent.id]);

    for (const delivery of waiting) {
      expect(await find(delivery)).toEqual({ ...delivery, nextAttemptAt: clock.now() + LEASE_MS });
    }
    expect(await find(later)).toEqual(later);
    expect(await webhookStore(given.db, SEALS).find(given.owner, broken.id)).toMatchObject({
      lastTriggeredAt: null,
    });
    expect(await deliveryQueue(deps()).webhooksWithDue()).toEqual([]);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(
      `The value of webhooks.sealed_secret of ${broken.id} was sealed with a key that is not known.`,
    );
  });

  test('a notice: the others are sent, and it counts no attempt until it opens', async () => {
    const notices = [aNotice(given.owner), aNotice(given.owner)];
    const [broken = aNotice(given.owner), other] = notices;
    await noticeStore(given.db, SEALS).insert(notices);
    const { value, repair } = await damage('notices', 'sealed_payload', broken.id);
    const queue = noticeQueue(deps());

    expect((await queue.take('email', 9)).map(({ id }) => id)).toEqual([other?.id]);

    expect(await queue.take('email', 9)).toEqual([]);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(`The value of notices.sealed_payload of ${broken.id} is damaged.`);
    expect(lines[0]).not.toContain(value.slice(12, 40));

    await repair();
    clock.advance(LATER_MS);
    const taken = await queue.take('email', 9);
    expect(taken.find(({ id }) => id === broken.id)).toMatchObject({ attempts: 1 });
  });

  test('more notices than one batch: later ones are still sent', async () => {
    const lost = Array.from({ length: 12 }, () => aNotice(given.owner));
    const notice = aNotice(given.owner, { id: newId('ntc'), createdAt: RECORD_TIME + 1 });
    await noticeStore(given.db, LOST).insert(lost);
    await noticeStore(given.db, SEALS).insert([notice]);
    clock.advance(1);

    expect((await noticeQueue(deps()).take('email', 5)).map(({ id }) => id)).toEqual([notice.id]);
  });
});

test('a defect in opening a row is no value that does not open', () => {
  const open = () => {
    throw new TypeError('a defect');
  };

  expect(() => openEach([{ id: 'evt_1' }], open, createLogger({ level: 'silent' }))).toThrow('a defect');
});
