import { createHmac } from 'node:crypto';
import { Webhook as Verifier } from 'standardwebhooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { openDatabase } from '#db/open.ts';
import { execute, rowsOf } from '#db/query.ts';
import { type Clock, systemClock } from '#lib/clock.ts';
import { HOLD_LIMIT_MS } from '#payments/model/delivery.ts';
import type { Delivery } from '#payments/model/webhook.ts';
import type { DeliveryRow } from '#payments/tables/event-tables.ts';
import { MANUAL_LEASE_MS } from '#payments/webhooks/attempt-lifecycle.ts';
import { LEASE_MS } from '#payments/webhooks/store/due-deliveries.ts';
import { until } from '../../lab/until.ts';
import {
  type Answer,
  type Arrival,
  startReceiver,
  type WebhookReceiver,
} from '../../lab/webhook-receiver.ts';
import { bothDatabases } from '../../support/databases.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { allArrived, type Registered, type Setting, startSetting } from './setting.ts';

/** Data that another JSON serializer would write differently. */
const TRICKY = {
  clientReferenceId: '1e3',
  metadata: { b: '\\u0041/\u2028', 2: '1.0', 1: 'ü 🧾 \ud800', a: '-0' },
  customerName: '"\u0007"',
};

const arrivalsOnce = (receiver: WebhookReceiver, count: number) =>
  until(
    async () => [...receiver.arrivals],
    arrivals => arrivals.length >= count,
  );

/** Pause of a dispatcher whose work is announced. It never ends while the clock stands still. */
const LOOK_PAUSE_MS = 60_000;

/** A webhook whose first delivery has arrived; the receiver may not have answered yet. */
async function attempted(setting: Setting, receiver: WebhookReceiver): Promise<Registered> {
  const webhook = await setting.webhook(receiver.url);
  await setting.happen(webhook);
  setting.dispatch();
  await arrivalsOnce(receiver, 1);
  return webhook;
}

/** A webhook whose first delivery has failed and is retried without jitter. */
async function failedOnce(setting: Setting, receiver: WebhookReceiver): Promise<Registered> {
  const webhook = await setting.webhook(receiver.url);
  await setting.happen(webhook);
  setting.dispatch({ chance: () => 0 });
  await setting.deliveriesOnce(webhook, ([one]) => one?.status === 'failed');
  return webhook;
}

/** An answer that is withheld until `letGo`. */
function held() {
  const waiting: (() => void)[] = [];
  const answer: Answer = response => waiting.push(() => response.writeHead(200).end());
  return {
    answer,
    letGo: (count = waiting.length) => {
      for (const go of waiting.splice(0, count)) go();
    },
  };
}

bothDatabases('the dispatcher', databases => {
  let clock: ManualClock;

  beforeEach(() => {
    clock = manualClock(Date.now());
  });

  const setUp = async (time: Clock = clock) => startSetting(await databases.create('payments'), time);
  /** Advances the time, and waits until the dispatchers have done all due work. */
  const pass = async (setting: Setting, ms: number) => {
    clock.advance(ms);
    await setting.idle();
  };

  test('sends an event once, signed, and counts the success', async () => {
    await using receiver = await startReceiver();
    await using setting = await setUp(systemClock);
    const webhook = await setting.webhook(receiver.url);
    const [event] = await setting.happen(webhook);
    setting.dispatch();

    const [delivery] = await setting.deliveriesOnce(webhook, allArrived);

    expect(delivery).toMatchObject({ attempts: 1, responseCode: 204, lastError: null, sending: null });
    expect(await setting.current(webhook)).toMatchObject({ successCount: 1, failureCount: 0 });
    const [arrival, ...others] = receiver.arrivals;
    expect(others).toEqual([]);
    const text = arrival?.body.toString() ?? '';
    expect(JSON.parse(text)).toEqual({
      id: event?.id,
      event: 'checkout.expired',
      webhook_id: webhook.id,
      timestamp: new Date(event?.createdAt ?? 0).toISOString(),
      data: event?.data,
    });
    expect(arrival?.headers['x-service-signature']).toBe(
      createHmac('sha256', webhook.secret).update(text).digest('hex'),
    );
    expect(() => new Verifier(webhook.secret).verify(text, flat(arrival))).not.toThrow();
  });

  test('reports each attempt as a success or a failure', async () => {
    await using receiver = await startReceiver(({ attempt }) => (attempt === 1 ? 503 : 204));
    await using setting = await setUp();
    const reported: string[] = [];
    const webhook = await setting.webhook(receiver.url);
    await setting.happen(webhook);
    setting.dispatch({ chance: () => 0, onAttempt: result => reported.push(result) });
    await setting.deliveriesOnce(webhook, ([one]) => one?.status === 'failed');

    await pass(setting, 60_000);

    expect(reported).toEqual(['failure', 'success']);
  });

  test('retries after 1 minute, 10 minutes and 1 hour and not before, with the same bytes, and then no more', async () => {
    await using receiver = await startReceiver(() => 503);
    await using setting = await setUp();
    const webhook = await setting.webhook(receiver.url);
    await setting.happen(webhook, 1, TRICKY);
    setting.dispatch({ chance: () => 0 });
    const settled = (attempts: number) =>
      setting.deliveriesOnce(webhook, ([one]) => one?.attempts === attempts && one.sending === null);

    await settled(1);
    for (const [index, wait] of [60_000, 600_000, 3_600_000].entries()) {
      await pass(setting, wait - 1);
      expect(receiver.arrivals).toHaveLength(index + 1);
      await pass(setting, 1);
      const [delivery] = await settled(index + 2);
      expect(delivery).toMatchObject({ status: 'failed', responseCode: 503 });
    }
    await pass(setting, 30 * 86_400_000);

    expect(receiver.arrivals).toHaveLength(4);
    expect(await setting.deliveries(webhook)).toMatchObject([{ attempts: 4, nextAttemptAt: null }]);
    expect(new Set(receiver.arrivals.map(({ hash }) => hash)).size).toBe(1);
    expect(new Set(receiver.arrivals.map(({ eventId }) => eventId)).size).toBe(1);
    expect(receiver.arrivals.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
    const again = Buffer.from(JSON.stringify(JSON.parse(String(receiver.arrivals[0]?.body))));
    expect(again.equals(receiver.arrivals[0]?.body ?? again)).toBe(true);
    expect(await setting.current(webhook)).toMatchObject({ failureCount: 1, failuresInARow: 1 });
  });

  test('after a failed write, results and waiting attempts continue without another look for due deliveries', async () => {
    const { answer, letGo } = held();
    let isHeld = true;
    await using receiver = await startReceiver(() => (isHeld ? answer : 204));
    await using setting = await setUp();
    const webhook = await setting.webhook(receiver.url);
    await setting.happen(webhook, 6);
    let sent = 0;
    let failures = 0;
    setting.dispatch({
      pauseMs: LOOK_PAUSE_MS,
      concurrencyPerEndpoint: 4,
      fault(step) {
        if (step === 'after send') sent += 1;
        if (step !== 'before result' || failures === 1) return;
        failures += 1;
        throw new Error('the database is away for a moment');
      },
    });
    await arrivalsOnce(receiver, 4);

    isHeld = false;
    letGo();
    const hasFailed = async () => sent === 4 && failures === 1 && clock.sleepers() === 1;
    expect(await until(hasFailed, isTrue => isTrue)).toBe(true);
    clock.advance(200);

    const all = await setting.deliveriesOnce(webhook, allArrived);
    expect(all.map(({ status }) => status)).toEqual(Array(6).fill('success'));
    expect(receiver.arrivals).toHaveLength(6);
  });

  test('more results than fit one transaction are all written without another look', async () => {
    const count = 510;
    const { answer, letGo } = held();
    await using receiver = await startReceiver(() => answer);
    await using setting = await setUp();
    const webhook = await setting.webhook(receiver.url);
    await setting.happen(webhook, count);
    const isWriting = Promise.withResolvers<void>();
    const areSent = Promise.withResolvers<void>();
    let sent = 0;
    setting.dispatch({
      pauseMs: LOOK_PAUSE_MS,
      concurrencyPerEndpoint: count,
      async fault(step) {
        if (step === 'after send' && ++sent === count) areSent.resolve();
        if (step !== 'before result') return;
        isWriting.resolve();
        await areSent.promise;
      },
    });
    await arrivalsOnce(receiver, count);

    letGo(1);
    await isWriting.promise;
    letGo();

    const all = await setting.deliveriesOnce(webhook, allArrived);
    expect(all.filter(({ status }) => status !== 'success')).toEqual([]);
    expect(receiver.arrivals).toHaveLength(count);
  });

  test('a successful retry ends the schedule, and both counters include the delivery', async () => {
    await using receiver = await startReceiver(({ number }) => (number === 1 ? 500 : 200));
    await using setting = await setUp();
    const webhook = await setting.webhook(receiver.url);
    await setting.happen(webhook);
    setting.dispatch({ chance: () => 1 });
    await setting.deliveriesOnce(webhook, ([one]) => one?.status === 'failed');

    await pass(setting, 65_999);
    expect(receiver.arrivals).toHaveLength(1);
    await pass(setting, 1);

    expect(await setting.deliveriesOnce(webhook, allArrived)).toMatchObject([
      { status: 'success', attempts: 2, nextAttemptAt: null },
    ]);
    expect(await setting.current(webhook)).toMatchObject({
      successCount: 1,
      failureCount: 1,
      failuresInARow: 0,
    });
  });

  test('ten consecutive failures disable the webhook; further deliveries are held and sent once it is enabled', async () => {
    let status = 500;
    await using receiver = await startReceiver(() => status);
    await using setting = await setUp();
    const webhook = await setting.webhook(receiver.url);
    await setting.happen(webhook, 12);
    setting.dispatch({ concurrencyPerEndpoint: 1, disableAfterMs: { live: 0, test: 0 } });

    const disabled = await until(
      () => setting.current(webhook),
      ({ isActive }) => !isActive,
    );
    await pass(setting, 2 * 3_600_000);

    expect(disabled).toMatchObject({ disabledReason: 'too_many_failures', failureCount: 10 });
    expect(receiver.arrivals).toHaveLength(10);

    status = 200;
    await setting.change(webhook, { isActive: true });
    await pass(setting, 0);
    const all = await setting.deliveriesOnce(webhook, allArrived);

    expect(all.map(({ attempts }) => attempts)).toEqual([...Array(10).fill(2), 1, 1]);
    expect(receiver.arrivals).toHaveLength(22);
  });

  test('a delivery held for longer than a day is final and is not sent', async () => {
    await using receiver = await startReceiver();
    await using setting = await setUp();
    const webhook = await setting.webhook(receiver.url);
    await setting.happen(webhook);
    await setting.change(webhook, { isActive: false });
    clock.advance(1_000);
    await setting.change(webhook, { isActive: true });
    await setting.happen(webhook);
    await setting.change(webhook, { isActive: false });
    setting.dispatch();
    await pass(setting, HOLD_LIMIT_MS);

    await setting.change(webhook, { isActive: true });
    await pass(setting, 0);
    const [old, recent] = await setting.deliveriesOnce(webhook, all => all[1]?.status === 'success');

    expect([old, recent]).toMatchObject([
      { status: 'failed', attempts: 0, nextAttemptAt: null },
      { status: 'success', attempts: 1 },
    ]);
    expect(receiver.arrivals).toHaveLength(1);
  });

  test('organizations with hanging receivers leave slots to every other organization', async () => {
    await using hanging = await startReceiver(() => () => {});
    await using prompt = await startReceiver();
    await using setting = await setUp(systemClock);
    setting.dispatch({ mostInFlight: 8 });
    const hang = async (arrived: number) => {
      const first = await setting.webhook(hanging.url);
      await setting.webhook(hanging.url, first);
      await setting.happen(first, 5);
      await arrivalsOnce(hanging, arrived);
    };

    await hang(4);
    await hang(6);
    const healthy = await setting.webhook(prompt.url);
    await setting.happen(healthy, 3);
    const deliveries = await setting.deliveriesOnce(healthy, allArrived);

    expect(deliveries.map(({ status }) => status)).toEqual(Array(3).fill('success'));
    expect(hanging.arrivals).toHaveLength(6);
  });

  test('a hanging receiver delays no other webhook, even of the same organization', async () => {
    const cap = 5;
    let open = 0;
    let most = 0;
    await using hanging = await startReceiver(() => response => {
      open += 1;
      most = Math.max(most, open);
      response.once('close', () => {
        open -= 1;
      });
    });
    await using quick = await startReceiver();
    await using setting = await setUp(systemClock);
    const slow = await setting.webhook(hanging.url);
    const sibling = await setting.webhook(quick.url, slow);
    const other = await setting.webhook(quick.url);
    await setting.happen(slow, 120);
    setting.dispatch({ concurrencyPerEndpoint: cap });
    await arrivalsOnce(hanging, cap);
    await setting.happen(other, 40);

    const others = await setting.deliveriesOnce(other, allArrived);
    const siblings = await setting.deliveriesOnce(sibling, allArrived);

    expect([others.length, siblings.length]).toEqual([40, 120]);
    expect([...others, ...siblings].every(({ status }) => status === 'success')).toBe(true);
    expect(hanging.arrivals).toHaveLength(cap);
    expect(most).toBe(cap);
  });

  describe('a long attempt', () => {
    test('is not taken by another dispatcher while its lease lasts', async () => {
      const slow = held();
      await using receiver = await startReceiver(() => slow.answer);
      await using setting = await setUp();
      const webhook = await attempted(setting, receiver);
      const db = openDatabase(setting.options);
      const second = setting.dispatch({ db });

      await pass(setting, LEASE_MS - 1);
      expect(receiver.arrivals).toHaveLength(1);
      slow.letGo();

      expect(await setting.deliveriesOnce(webhook, allArrived)).toMatchObject([{ attempts: 1 }]);
      await pass(setting, LEASE_MS);
      expect(receiver.arrivals).toHaveLength(1);
      await second.stop();
      await db.destroy();
    });

    test('is repeated under the next number once its lease ends, and its late result is ignored', async () => {
      const slow = held();
      await using receiver = await startReceiver(({ number }) => (number === 1 ? slow.answer : 500));
      await using setting = await setUp();
      const webhook = await setting.webhook(receiver.url);
      await setting.happen(webhook);
      let written = 0;
      setting.dispatch({
        fault: step => {
          if (step === 'after result') written += 1;
        },
      });
      await arrivalsOnce(receiver, 1);

      await pass(setting, LEASE_MS);
      await setting.deliveriesOnce(webhook, ([one]) => one?.status === 'failed');
      slow.letGo();
      await until(
        async () => written,
        count => count === 2,
      );

      expect(receiver.arrivals.map(({ attempt }) => attempt)).toEqual([1, 2]);
      expect(await setting.deliveries(webhook)).toMatchObject([
        { status: 'failed', attempts: 2, automaticFailures: 1 },
      ]);
      expect(await setting.current(webhook)).toMatchObject({ successCount: 0, failureCount: 1 });
    });
  });

  describe('when the clock jumps', () => {
    test('back by an hour, a retry is late but not lost, and no attempt is early', async () => {
      await using receiver = await startReceiver(({ number }) => (number === 1 ? 500 : 200));
      await using setting = await setUp();
      const webhook = await failedOnce(setting, receiver);

      await pass(setting, -3_600_000);
      await pass(setting, 3_600_000 + 59_999);
      expect(receiver.arrivals).toHaveLength(1);
      await pass(setting, 1);

      expect(await setting.deliveriesOnce(webhook, allArrived)).toMatchObject([{ attempts: 2 }]);
    });

    test('back during an attempt, its result is still written', async () => {
      const slow = held();
      await using receiver = await startReceiver(() => slow.answer);
      await using setting = await setUp();
      const webhook = await attempted(setting, receiver);

      clock.advance(-3_600_000);
      slow.letGo();

      const [delivery] = await setting.deliveriesOnce(webhook, allArrived);
      expect(delivery).toMatchObject({ attempts: 1, sending: null });
      expect(delivery?.responseTimeMs).toBeGreaterThanOrEqual(0);
    });

    test('forward by a day, every retry is made once and the schedule keeps its steps', async () => {
      await using receiver = await startReceiver(() => 500);
      await using setting = await setUp();
      const webhook = await failedOnce(setting, receiver);

      await pass(setting, 86_400_000);
      const [delivery] = await setting.deliveriesOnce(
        webhook,
        ([one]) => one?.attempts === 2 && one.sending === null,
      );

      expect(receiver.arrivals).toHaveLength(2);
      expect(delivery?.nextAttemptAt).toBe(clock.now() + 600_000);
    });
  });

  test('a test whose process crashed is ended within ten seconds after its lease', async () => {
    await using receiver = await startReceiver();
    await using setting = await setUp();
    const webhook = await setting.webhook(receiver.url);
    const { id } = await setting.manualAttempt(webhook);
    setting.dispatch();
    const isEnded = async () => (await setting.deliveries(webhook))[0]?.sending === null;

    await pass(setting, MANUAL_LEASE_MS - 1);
    expect(await isEnded()).toBe(false);
    await pass(setting, 9_999);
    expect(await isEnded()).toBe(false);
    await pass(setting, 1);

    expect(await setting.deliveries(webhook)).toMatchObject([{ id, status: 'failed', sending: null }]);
    expect(receiver.arrivals).toEqual([]);
  });

  describe('on stop', () => {
    test('ends every worker, so that none is left to look for due deliveries', async () => {
      await using setting = await setUp();
      const dispatcher = setting.dispatch();
      await setting.idle();

      await dispatcher.stop();

      await until(
        async () => clock.sleepers(),
        sleepers => sleepers === 0,
      );
      expect(clock.sleepers()).toBe(0);
    });

    test('begins no further attempts, and waits for those under way', async () => {
      const slow = held();
      await using receiver = await startReceiver(() => slow.answer);
      await using setting = await setUp(systemClock);
      const webhook = await setting.webhook(receiver.url);
      await setting.happen(webhook, 3);
      const dispatcher = setting.dispatch({ concurrencyPerEndpoint: 1, stopWithinMs: 20_000 });
      await arrivalsOnce(receiver, 1);

      const stopped = dispatcher.stop();
      slow.letGo();
      await stopped;

      expect(await setting.deliveries(webhook)).toMatchObject([
        { status: 'success' },
        { attempts: 0 },
        { attempts: 0 },
      ]);
      expect(receiver.arrivals).toHaveLength(1);
    });

    test('claims nothing in a round that was about to claim', async () => {
      await using receiver = await startReceiver(() => 200);
      await using setting = await setUp(systemClock);
      const webhook = await setting.webhook(receiver.url);
      await setting.happen(webhook);
      const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
      const { promise: goOn, resolve: letGoOn } = Promise.withResolvers<void>();
      const dispatcher = setting.dispatch({
        fault(step) {
          if (step !== 'before claim') return;
          reach();
          return goOn;
        },
      });
      await reached;

      const stopped = dispatcher.stop();
      letGoOn();
      await stopped;

      expect(await setting.deliveries(webhook)).toMatchObject([{ attempts: 0 }]);
      expect(receiver.arrivals).toHaveLength(0);
    });

    test('cuts off a slow attempt without a failure, and its delivery is sent again with the same body after the lease', async () => {
      await using receiver = await startReceiver(({ number }) => (number === 1 ? () => undefined : 200));
      await using setting = await setUp();
      const webhook = await setting.webhook(receiver.url);
      await setting.happen(webhook);
      const dispatcher = setting.dispatch({ clock: { ...clock, sleep: systemClock.sleep } });
      await arrivalsOnce(receiver, 1);

      await dispatcher.stop();
      setting.dispatch();
      await pass(setting, LEASE_MS - 1);
      expect(receiver.arrivals).toHaveLength(1);
      await pass(setting, 1);

      expect(await setting.deliveriesOnce(webhook, allArrived)).toMatchObject([
        { attempts: 2, automaticFailures: 0, hasFailed: false },
      ]);
      const [first, second] = receiver.arrivals;
      expect(second?.hash).toBe(first?.hash);
      expect(await setting.current(webhook)).toMatchObject({ successCount: 1, failureCount: 0 });
    });
  });

  test('results that cannot be written are kept and written later, and nothing is sent twice', async () => {
    await using receiver = await startReceiver();
    await using setting = await setUp(systemClock);
    const webhook = await setting.webhook(receiver.url);
    await setting.happen(webhook, 10);
    let left = 3;
    setting.dispatch({
      fault: step => {
        if (step === 'before result' && left-- > 0) throw new Error('the database is away');
      },
    });

    const all = await setting.deliveriesOnce(webhook, allArrived);

    expect(left).toBeLessThanOrEqual(0);
    expect(all.map(({ attempts }) => attempts)).toEqual(Array(10).fill(1));
    expect(receiver.arrivals).toHaveLength(10);
  });

  test('a result that its row rejects is dropped, and blocks no other delivery or result', async () => {
    await using receiver = await startReceiver(({ number }) => (number <= 2 ? 418 : 204));
    await using setting = await setUp(systemClock);
    const webhook = await setting.webhook(receiver.url);
    // Two deliveries are answered 418, and the index rejects the second result.
    await execute(
      setting.db,
      'create unique index one_of_418 on deliveries (response_code) where response_code = 418',
    );
    await setting.happen(webhook, 30);
    setting.dispatch({ concurrencyPerEndpoint: 5 });

    const isAllButTwo = (all: readonly Delivery[]) =>
      all.filter(({ status }) => status === 'success').length === 28 &&
      all.some(({ status }) => status === 'failed');
    const all = await setting.deliveriesOnce(webhook, isAllButTwo);

    expect(all.filter(({ status }) => status === 'success')).toHaveLength(28);
    expect(all.filter(({ status }) => status === 'failed')).toMatchObject([{ responseCode: 418 }]);
    expect(all.filter(({ status }) => status === 'pending')).toMatchObject([{ sending: 'automatic' }]);
    expect(receiver.arrivals).toHaveLength(30);
  });

  test('results are written while the look for due deliveries fails, and sending resumes afterwards', async () => {
    const slow = held();
    await using receiver = await startReceiver(({ number }) => (number === 1 ? slow.answer : 204));
    await using setting = await setUp(systemClock);
    const webhook = await setting.webhook(receiver.url);
    await setting.happen(webhook);
    setting.dispatch();
    await arrivalsOnce(receiver, 1);

    await execute(setting.db, 'alter table webhooks rename column organization_id to hidden_id');
    slow.letGo();
    const rows = () => rowsOf<Pick<DeliveryRow, 'status'>>(setting.db, 'select status from deliveries');
    expect(await until(rows, ([one]) => one?.status !== 'pending')).toEqual([{ status: 'success' }]);
    await execute(setting.db, 'alter table webhooks rename column hidden_id to organization_id');
    await setting.happen(webhook);

    const isAll = (all: readonly Delivery[]) => all.length === 2 && allArrived(all);
    expect(await setting.deliveriesOnce(webhook, isAll)).toMatchObject([{ attempts: 1 }, { attempts: 1 }]);
    expect(receiver.arrivals).toHaveLength(2);
  });

  test('a delivery that cannot be decrypted blocks no other', async () => {
    await using receiver = await startReceiver();
    await using setting = await setUp(systemClock);
    const broken = await setting.webhook(receiver.url);
    const other = await setting.webhook(receiver.url);
    await setting.happen(broken);
    await execute(setting.db, "update deliveries set sealed_body = 'v1.00000000.damaged'");
    await setting.happen(other, 3);
    setting.dispatch();

    expect(await setting.deliveriesOnce(other, allArrived)).toHaveLength(3);
    expect(await setting.deliveries(broken)).toMatchObject([{ status: 'pending', attempts: 0 }]);
  });

  test('a webhook deleted during an attempt does not stop the dispatcher', async () => {
    const slow = held();
    await using receiver = await startReceiver(({ number }) => (number === 1 ? slow.answer : 200));
    await using setting = await setUp(systemClock);
    const gone = await setting.webhook(receiver.url);
    const other = await setting.webhook(receiver.url);
    await setting.happen(gone);
    setting.dispatch();
    await arrivalsOnce(receiver, 1);

    await execute(setting.db, 'delete from webhooks where id = ?', [gone.id]);
    slow.letGo();
    await setting.happen(other);

    expect(await setting.deliveriesOnce(other, allArrived)).toMatchObject([{ status: 'success' }]);
  });
});

function flat(arrival: Arrival | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(arrival?.headers ?? {}).map(([name, value]) => [name, String(value)]),
  );
}
