import { createHmac, timingSafeEqual } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { notificationStore } from '#payments/notifications/store/notification-store.ts';
import { eventually } from '../../http/serve.ts';
import { number, text } from '../../lab/json.ts';
import { until } from '../../lab/until.ts';
import { type Answer, startReceiver, type WebhookReceiver } from '../../lab/webhook-receiver.ts';
import { bothDatabases } from '../../support/databases.ts';
import { errorOf, type Merchant, type PaymentsApi, startPaymentsApi } from '../../support/payments-api.ts';
import { dataOf, listOf, newWebhook, pay, untilTold, WEBHOOKS } from '../../support/webhooks-api.ts';

const URL = 'https://books.example/hooks';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** A retry comes up to a tenth later than its delay (Decision 123). */
const LATEST = 1.1;

/** Each test is a row of document 3 and has the words of the row as its title. */
bothDatabases('document 3', databases => {
  let api: PaymentsApi;
  let shop: Merchant;
  let reader: Awaited<ReturnType<Merchant['withKey']>>;
  let writer: Awaited<ReturnType<Merchant['withKey']>>;
  let receiver: WebhookReceiver;
  let answer: () => Answer;
  let mailFolder: string;

  beforeAll(async () => {
    mailFolder = await mkdtemp(join(tmpdir(), 'mails-'));
    api = await startPaymentsApi(await databases.create('payments'), { mailFolder });
    api.tell();
  });
  afterAll(async () => {
    await api[Symbol.asyncDispose]();
    await rm(mailFolder, { recursive: true });
  });
  beforeEach(async () => {
    answer = () => 200;
    receiver = await startReceiver(() => answer());
    shop = await api.merchant();
    reader = await shop.withKey({ permission: 'read' });
    writer = await shop.withKey({ permission: 'write' });
    return () => receiver[Symbol.asyncDispose]();
  });

  const deliveriesOf = async (path: string) => listOf(await shop.get(`${path}/deliveries`));
  /** Advances time until the newest delivery is as required. */
  const untilDelivery = (path: string, isRight: (delivery: Record<string, unknown>) => boolean) =>
    untilTold(
      api.clock,
      async () => (await deliveriesOf(path))[0] ?? {},
      one => 'id' in one && isRight(one),
    );
  /** Like `untilDelivery` without advancing time, for attempts that end by themselves. */
  const soon = (path: string, isRight: (delivery: Record<string, unknown>) => boolean) =>
    until(
      async () => (await deliveriesOf(path))[0] ?? {},
      one => 'id' in one && isRight(one),
    );
  /** True for a failed delivery that waits for its next retry. */
  const isDueAgain = (one: Record<string, unknown>, attempts: number) =>
    one.status === 'failed' && one.attempts === attempts && one.next_attempt_at !== null;
  const mails = async () => {
    const files = (await readdir(mailFolder)).filter(file => file.endsWith('.eml'));
    return Promise.all(files.map(file => readFile(join(mailFolder, file), 'utf8')));
  };

  describe('endpoints: Webhooks', () => {
    test('GET /webhooks · read · array of webhook objects (without secret)', async () => {
      const { id, secret } = await newWebhook(shop, { url: URL });

      const answered = await reader.get(WEBHOOKS);

      expect(answered).toMatchObject({ status: 200, body: { success: true, data: [{ id }] } });
      expect(JSON.stringify(answered.body)).not.toContain(secret);
    });

    test('POST /webhooks · admin · url, events, description → webhook object including secret', async () => {
      const body = { url: URL, events: ['*'], description: 'Order service' };

      const answered = await shop.post(WEBHOOKS, body);

      expect(answered).toMatchObject({ status: 201, body: { success: true, data: body } });
      expect(dataOf(answered).secret).toMatch(/^whsec_/);
      expect(errorOf(await writer.post(WEBHOOKS, body))).toBe('403 insufficient_permissions');
      expect(errorOf(await shop.post(WEBHOOKS, { events: ['*'] }))).toBe('400 missing_required_field url');
      expect(errorOf(await shop.post(WEBHOOKS, { url: URL }))).toBe('400 missing_required_field events');
    });

    test('GET /webhooks/{webhook_id} · read · webhook object', async () => {
      const { id, path } = await newWebhook(shop, { url: URL });

      const answered = await reader.get(path);

      expect(answered).toMatchObject({ status: 200, body: { success: true, data: { id, url: URL } } });
      expect(dataOf(answered)).not.toHaveProperty('secret');
    });

    test('PATCH /webhooks/{webhook_id} · admin · url, events (replaces the list), is_active → updated webhook', async () => {
      const { path } = await newWebhook(shop, { url: URL, events: ['payment.failed'] });
      const changes = { url: `${URL}/2`, events: ['checkout.expired'], is_active: false };

      const refused = await writer.patch(path, changes);
      const answered = await shop.patch(path, changes);

      expect(errorOf(refused)).toBe('403 insufficient_permissions');
      expect(answered).toMatchObject({ status: 200, body: { success: true, data: changes } });
    });

    test('DELETE /webhooks/{webhook_id} · admin · webhook removed', async () => {
      const { path } = await newWebhook(shop, { url: URL });

      const refused = await writer.delete(path);
      const answered = await shop.delete(path);

      expect(errorOf(refused)).toBe('403 insufficient_permissions');
      expect(answered).toMatchObject({ status: 200, body: { success: true } });
      expect(errorOf(await reader.get(path))).toBe('404 resource_not_found');
    });

    test('POST /webhooks/{webhook_id}/test · admin · {delivery_id, status sent, response_code}; success', async () => {
      const { path } = await newWebhook(shop, { url: receiver.url });

      const refused = await writer.post(`${path}/test`);
      const answered = await shop.post(`${path}/test`);

      expect(errorOf(refused)).toBe('403 insufficient_permissions');
      expect(answered.status).toBe(200);
      expect(dataOf(answered)).toEqual({
        delivery_id: expect.stringMatching(/^del_/),
        status: 'sent',
        response_code: 200,
        success: true,
      });
    });

    test('GET /webhooks/{webhook_id}/deliveries · read · array of webhook delivery objects', async () => {
      const { path } = await newWebhook(shop, { url: receiver.url });
      const { delivery_id: id } = dataOf(await shop.post(`${path}/test`));

      const answered = await reader.get(`${path}/deliveries`);

      expect(answered).toMatchObject({ status: 200, body: { success: true, data: [{ id }] } });
      expect(listOf(answered)[0]).toMatchObject({
        event_type: 'test.ping',
        status: 'success',
        response_code: 200,
        response_time_ms: expect.any(Number),
        attempts: 1,
        created_at: expect.any(String),
      });
    });

    test('POST …/deliveries/{delivery_id}/retry · admin · {delivery_id, status sent, response_code, attempts}', async () => {
      answer = () => 503;
      const { path } = await newWebhook(shop, { url: receiver.url });
      const { delivery_id } = dataOf(await shop.post(`${path}/test`));
      const retry = `${path}/deliveries/${delivery_id}/retry`;
      answer = () => 202;

      const refused = await writer.post(retry);
      const answered = await shop.post(retry);

      expect(errorOf(refused)).toBe('403 insufficient_permissions');
      expect(answered.status).toBe(200);
      expect(dataOf(answered)).toMatchObject({
        delivery_id,
        status: 'sent',
        response_code: 202,
        attempts: 2,
      });
    });
  });

  describe('states: Webhook delivery', () => {
    test('(new) · event occurs for a subscribed, active webhook → pending · POST sent to the webhook url', async () => {
      const gate = Promise.withResolvers<void>();
      const slow = await startReceiver(() => gate.promise.then(() => 200));
      const { path, id, secret } = await newWebhook(shop, { url: `${slow.url}/hook?a=1` });
      const others = [
        await newWebhook(shop, { url: receiver.url, events: ['payment.failed'] }),
        await newWebhook(await api.merchant(), { url: receiver.url }),
      ];
      const paused = await newWebhook(shop, { url: receiver.url });
      await shop.patch(paused.path, { is_active: false });

      const session = await pay(shop, { clientReferenceId: 'order-7' });
      const pending = await untilDelivery(path, ({ attempts }) => attempts === 1);
      const [arrival] = await eventually(() => (slow.arrivals.length > 0 ? slow.arrivals : undefined));
      gate.resolve();
      await soon(path, ({ status }) => status === 'success');

      expect(pending).toMatchObject({
        event_type: 'payment.completed',
        status: 'pending',
        response_code: null,
      });
      expect(arrival?.path).toBe('/hook?a=1');
      expect(JSON.parse(String(arrival?.body))).toMatchObject({
        event: 'payment.completed',
        webhook_id: id,
        data: { session_id: session, checkoutSession: { clientReferenceId: 'order-7', metadata: {} } },
      });
      const expected = createHmac('sha256', secret)
        .update(arrival?.body ?? '')
        .digest();
      const given = Buffer.from(String(arrival?.headers['x-service-signature']), 'hex');
      expect(timingSafeEqual(given, expected)).toBe(true);
      expect(receiver.arrivals).toEqual([]);
      expect(await deliveriesOf(paused.path)).toEqual([]);
      expect(await deliveriesOf(others[0]?.path ?? '')).toEqual([]);
      await slow[Symbol.asyncDispose]();
    });

    test('pending · receiver answers 2xx within 30 seconds → success · success_count grows', async () => {
      answer = () => 204;
      const { path } = await newWebhook(shop, { url: receiver.url });

      await pay(shop);
      const delivery = await untilDelivery(path, ({ status }) => status !== 'pending');

      expect(delivery).toMatchObject({ status: 'success', is_final: true, response_code: 204, attempts: 1 });
      expect(dataOf(await shop.get(path))).toMatchObject({ success_count: 1, failure_count: 0 });
    });

    test('pending · no 2xx → failed · retries after 1 minute, 10 minutes, 1 hour', async () => {
      answer = () => 500;
      const { path } = await newWebhook(shop, { url: receiver.url });
      await pay(shop);
      await untilTold(
        api.clock,
        () => receiver.arrivals.length,
        count => count === 1,
      );

      const waits: number[] = [];
      for (const attempts of [1, 2, 3]) {
        // No time passes before the attempt ends, so it ended now.
        const failed = await soon(path, one => isDueAgain(one, attempts));
        const due = Date.parse(text(failed.next_attempt_at));
        waits.push(due - api.clock.now());
        expect(failed.is_final).toBe(false);
        api.clock.advance(due - api.clock.now() - 1_000);
        await pay(await api.merchant());
        expect(receiver.arrivals).toHaveLength(attempts);
        await untilTold(
          api.clock,
          () => receiver.arrivals.length,
          count => count === attempts + 1,
        );
      }

      for (const [index, delay] of [MINUTE_MS, 10 * MINUTE_MS, HOUR_MS].entries()) {
        expect(waits[index]).toBeGreaterThanOrEqual(delay);
        expect(waits[index]).toBeLessThanOrEqual(delay * LATEST);
      }
      expect(dataOf(await shop.get(path))).toMatchObject({ success_count: 0, failure_count: 1 });
    });

    test('failed · all 3 retries fail → failed (permanent) · can still be retried manually', async () => {
      answer = () => 500;
      const { path } = await newWebhook(shop, { url: receiver.url });
      await pay(shop);
      for (const attempts of [1, 2, 3]) {
        const failed = await untilDelivery(path, one => isDueAgain(one, attempts));
        api.clock.advance(Date.parse(text(failed.next_attempt_at)) - api.clock.now());
      }

      const permanent = await untilDelivery(path, one => one.is_final === true);
      api.clock.advance(24 * HOUR_MS);
      await pay(shop, { clientReferenceId: 'next' });
      await untilTold(
        api.clock,
        () => receiver.arrivals.length,
        count => count === 5,
      );
      answer = () => 200;
      const retried = await shop.post(`${path}/deliveries/${permanent.id}/retry`);

      expect(permanent).toMatchObject({ status: 'failed', attempts: 4, next_attempt_at: null });
      const ofIt = receiver.arrivals.filter(({ eventId }) => eventId === permanent.event_id);
      expect(ofIt).toHaveLength(5);
      expect(dataOf(retried)).toMatchObject({ status: 'sent', success: true, attempts: 5 });
    });

    test('failed · manual retry (delivery must be in failed state) → sent / result in response · attempts increases by one', async () => {
      answer = () => 500;
      const { path } = await newWebhook(shop, { url: receiver.url });
      await pay(shop);
      const failed = await untilDelivery(path, one => one.status === 'failed');
      const retry = () => shop.post(`${path}/deliveries/${failed.id}/retry`);

      const again = dataOf(await retry());
      answer = () => 200;
      const atLast = dataOf(await retry());
      const tooOften = await retry();

      const before = number(failed.attempts);
      expect(again).toMatchObject({
        status: 'sent',
        response_code: 500,
        success: false,
        attempts: before + 1,
      });
      expect(atLast).toMatchObject({
        status: 'sent',
        response_code: 200,
        success: true,
        attempts: before + 2,
      });
      expect(errorOf(tooOften)).toBe('400 invalid_status_transition');
      expect(dataOf(await shop.get(path))).toMatchObject({ success_count: 1, failure_count: 1 });
    });
  });

  describe('states: Webhook activity', () => {
    test('is_active true · PATCH with is_active false → is_active false · delivery paused, endpoint kept', async () => {
      answer = () => 500;
      const { path } = await newWebhook(shop, { url: receiver.url });
      await pay(shop);
      await untilDelivery(path, one => one.status === 'failed');
      await shop.patch(path, { is_active: false });
      const held = (await deliveriesOf(path))[0];
      api.clock.advance(2 * MINUTE_MS);
      await pay(shop);
      await newWebhook(shop, { url: `${receiver.url}/other` });
      const last = await pay(shop);
      answer = () => 200;
      await untilTold(
        api.clock,
        () => receiver.arrivals.some(one => one.path === '/other' && String(one.body).includes(last)),
        isTold => isTold,
      );
      const whilePaused = receiver.arrivals.filter(one => one.path === '/').length;

      await shop.patch(path, { is_active: true });
      const resumed = await untilDelivery(path, one => one.status === 'success');

      expect(held).toMatchObject({ status: 'failed', is_final: false, next_attempt_at: null });
      expect(whilePaused).toBe(1);
      expect(resumed).toMatchObject({ id: held?.id, attempts: 2 });
      expect(await deliveriesOf(path)).toHaveLength(1);
    });

    test('is_active true · 10 or more failed deliveries in a row → disabled automatically · an e-mail is sent; re-enabling by the owner', async () => {
      const settings = await notificationStore(api.db).find(shop.owner);
      if (settings === undefined) throw new Error('no settings');
      await notificationStore(api.db).save({ ...settings, emailAddress: 'owner@books.example' });
      answer = () => 500;
      const { path } = await newWebhook(shop, { url: receiver.url });
      const activity = async () => dataOf(await shop.get(path));

      for (let count = 0; count < 9; count++) await pay(shop);
      const nine = await untilTold(api.clock, activity, one => one.failure_count === 9);
      await pay(shop);
      const ten = await untilTold(api.clock, activity, one => one.is_active === false);
      const [mail] = await untilTold(api.clock, mails, all => all.length > 0);
      const reenabled = await shop.patch(path, { is_active: true });

      expect(nine).toMatchObject({ is_active: true, disabled_reason: null, disabled_at: null });
      expect(ten).toMatchObject({ disabled_reason: 'too_many_failures', disabled_at: expect.any(String) });
      expect(mail).toMatch(/^To: owner@books\.example\r$/m);
      expect(mail).toContain(receiver.url);
      expect(dataOf(reenabled)).toMatchObject({ is_active: true, disabled_reason: null, disabled_at: null });
    });

    test('any · DELETE webhook → removed · pending deliveries are cancelled', async () => {
      answer = () => 500;
      const { path } = await newWebhook(shop, { url: receiver.url });
      await pay(shop);
      await untilDelivery(path, one => one.status === 'failed');

      await shop.delete(path);
      api.clock.advance(2 * HOUR_MS);
      await newWebhook(shop, { url: `${receiver.url}/other` });
      await pay(shop);
      await untilTold(
        api.clock,
        () => receiver.arrivals.length,
        count => count >= 2,
      );

      expect((await shop.get(path)).status).toBe(404);
      expect(receiver.arrivals.map(one => one.path)).toEqual(['/', '/other']);
    });
  });
});
