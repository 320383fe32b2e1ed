import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { execute, rowsOf } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import { idempotencyStore } from '#payments/api/gate/idempotency-store.ts';
import { eventually } from '../../http/serve.ts';
import { record, text } from '../../lab/json.ts';
import { type Answer, startReceiver, type WebhookReceiver } from '../../lab/webhook-receiver.ts';
import { eachDatabase } from '../../support/databases.ts';
import { faultsOf } from '../../support/event-contract.ts';
import {
  type ApiClient,
  apiClient,
  errorOf,
  type Merchant,
  type PaymentsApi,
  startPaymentsApi,
} from '../../support/payments-api.ts';
import { dataOf, listOf, newWebhook, pay, untilTold } from '../../support/webhooks-api.ts';

const TYPES = ['payment.completed', 'payment.failed', 'checkout.completed', 'checkout.expired'];
const MISSING = 'del_000000000000000000000000';

eachDatabase('a manual attempt', databases => {
  let api: PaymentsApi;
  let shop: Merchant;
  let receiver: WebhookReceiver;
  let hook: Awaited<ReturnType<typeof newWebhook>>;
  /** The receiver's answer to every delivery. */
  let answer: () => Answer | Promise<Answer>;

  beforeAll(async () => {
    api = await startPaymentsApi(await databases.create('payments'));
  });
  afterAll(() => api[Symbol.asyncDispose]());
  beforeEach(async () => {
    answer = () => 200;
    receiver = await startReceiver(() => answer());
    shop = await api.merchant();
    hook = await newWebhook(shop, { url: `${receiver.url}/hook`, events: ['*'] });
    return () => receiver[Symbol.asyncDispose]();
  });

  const deliveries = async (query = '') => listOf(await shop.get(`${hook.path}/deliveries${query}`));
  const counts = async () => {
    const { success_count, failure_count, is_active } = dataOf(await shop.get(hook.path));
    return [success_count, failure_count, is_active];
  };
  const sendTest = (body?: object, key?: string) =>
    shop.post(`${hook.path}/test`, body, key === undefined ? {} : { 'Idempotency-Key': key });
  const retry = (id: unknown, key?: string) =>
    shop.post(
      `${hook.path}/deliveries/${id}/retry`,
      undefined,
      key === undefined ? {} : { 'Idempotency-Key': key },
    );

  describe('that has ended', () => {
    const resultsOf = async (id: unknown, by: ApiClient = shop) =>
      dataOf(await by.get(`${hook.path}/deliveries/${id}`)).attempt_results;
    const store = (isOn: boolean) => shop.patch(hook.path, { store_responses: isOn });
    const failing = (text: string) => (response: ServerResponse) => {
      response.statusCode = 500;
      response.end(text);
    };

    test('is listed with its result, and its answer only if the webhook keeps answers', async () => {
      answer = () => failing('at first');
      const { delivery_id: id } = dataOf(await sendTest());
      await store(true);
      answer = () => failing('TypeError: no such order');
      await retry(id);
      answer = () => 204;
      await retry(id);

      const failed = { response_code: 500, error: 'The receiver answered 500.' };
      expect(await resultsOf(id)).toMatchObject([
        { attempt: 1, ...failed, response_body: null },
        { attempt: 2, ...failed, response_body: 'TypeError: no such order' },
        { attempt: 3, response_code: 204, error: null, response_body: '' },
      ]);
    });

    test('shows its answer to administrators only, and stores it encrypted', async () => {
      await store(true);
      answer = () => failing('secret stack');
      const { delivery_id: id } = dataOf(await sendTest());
      const { body } = await shop.post('/api/v1/api-keys', { name: 'Reader', permission: 'read' });
      const reader = apiClient(api.url, text(record(body).key));

      expect(await resultsOf(id)).toMatchObject([{ response_body: 'secret stack' }]);
      expect(await resultsOf(id, reader)).toMatchObject([{ response_code: 500, response_body: null }]);
      expect(JSON.stringify(await rowsOf(api.db, 'select * from delivery_attempts'))).not.toContain('secret');
    });

    test('loses its answer when the webhook keeps no more answers, and goes with its delivery', async () => {
      await store(true);
      answer = () => failing('kept');
      const { delivery_id: id } = dataOf(await sendTest());
      await store(false);

      expect(await resultsOf(id)).toMatchObject([{ attempt: 1, response_code: 500, response_body: null }]);

      await execute(api.db, 'delete from deliveries where id = ?', [text(id)]);
      expect(
        await rowsOf(api.db, 'select id from delivery_attempts where delivery_id = ?', [text(id)]),
      ).toEqual([]);
    });
  });

  describe('that is a test', () => {
    test('is counted in the list of deliveries, and each page says if more follow', async () => {
      for (let sent = 0; sent < 3; sent += 1) await sendTest();
      answer = () => 500;
      await sendTest();

      const first = await shop.get(`${hook.path}/deliveries?status=success&limit=2`);
      const last = await shop.get(`${hook.path}/deliveries?status=success&limit=2&page=2`);

      expect(first.body).toMatchObject({ success: true, has_more: true, total_count: 3 });
      expect(last.body).toMatchObject({ success: true, has_more: false, total_count: 3 });
      expect([listOf(first).length, listOf(last).length]).toEqual([2, 1]);
    });

    test('shows what its latest attempt sent, without signatures', async () => {
      answer = () => 500;
      const { delivery_id: id } = dataOf(await sendTest());
      await retry(id);

      const { request_headers, request_body } = dataOf(await shop.get(`${hook.path}/deliveries/${id}`));
      const arrival = receiver.arrivals.at(-1);
      const shown = Object.entries(record(request_headers)).map(([name, value]) => [
        name.toLowerCase(),
        value,
      ]);
      expect(request_body).toBe(arrival?.body.toString());
      expect(arrival?.headers).toMatchObject(Object.fromEntries(shown));
      expect(arrival?.headers['x-service-delivery-id']).toBe(`${id}-2`);
      expect(shown.filter(([name]) => /signature|timestamp/.test(String(name)))).toEqual([]);
    });

    test('sends a signed test.ping, listed as a delivery with one attempt that no counter includes', async () => {
      const sent = await sendTest();

      const { delivery_id } = dataOf(sent);
      const [arrival] = receiver.arrivals;
      expect([sent.status, dataOf(sent)]).toEqual([
        200,
        { delivery_id, status: 'sent', response_code: 200, success: true },
      ]);
      const [listed] = await deliveries();
      expect(dataOf(await shop.get(`${hook.path}/deliveries/${delivery_id}`))).toMatchObject(record(listed));
      expect(arrival?.headers).toMatchObject({
        'content-type': 'application/json',
        'x-service-webhook-id': hook.id,
        'x-service-delivery-id': delivery_id,
        'x-service-event': 'test.ping',
        'x-service-test': 'true',
        'x-service-signature': createHmac('sha256', hook.secret)
          .update(arrival?.body ?? '')
          .digest('hex'),
      });
      expect(faultsOf('test.ping', JSON.parse(String(arrival?.body)))).toBe('');
      expect(JSON.parse(String(arrival?.body))).toMatchObject({
        id: arrival?.eventId,
        event: 'test.ping',
        webhook_id: hook.id,
        data: { id: expect.stringMatching(/^txn_test_/) },
      });
      expect(await deliveries()).toMatchObject([
        {
          object: 'webhook_delivery',
          id: delivery_id,
          webhook_id: hook.id,
          event_id: arrival?.eventId,
          event_type: 'test.ping',
          event: 'test.ping',
          status: 'success',
          is_test: true,
          is_final: true,
          attempts: 1,
          response_code: 200,
          last_error: null,
          next_attempt_at: null,
        },
      ]);
      expect(await counts()).toEqual([0, 0, true]);
      expect(record((await shop.get('/api/v1/events')).body).data).toEqual([]);
    });

    test.each(TYPES)('has sample data for %s in the shape of real events', async type => {
      await sendTest({ event: type });

      const told = JSON.parse(String(receiver.arrivals[0]?.body));
      expect(told).toMatchObject({ event: type, data: { checkoutSession: { metadata: {} } } });
      expect(receiver.arrivals[0]?.headers).toMatchObject({
        'x-service-test': 'true',
        'x-service-event': type,
      });
      expect(faultsOf(type, told)).toBe('');
    });

    test('that fails says so, is not retried and counts as no failure', async () => {
      answer = () => 500;

      for (let count = 0; count < 11; count++) {
        expect(dataOf(await sendTest())).toMatchObject({
          status: 'sent',
          response_code: 500,
          success: false,
        });
      }

      expect(await counts()).toEqual([0, 0, true]);
      const [latest] = await deliveries();
      expect(await deliveries(`?event_id=${text(record(latest).event_id)}`)).toEqual([latest]);
      expect((await deliveries('?status=failed&event_type=test.ping')).at(-1)).toMatchObject({
        status: 'failed',
        is_final: true,
        next_attempt_at: null,
        last_error: 'The receiver answered 500.',
      });
    });

    test('without an answer has no response code', async () => {
      await receiver[Symbol.asyncDispose]();

      expect(dataOf(await sendTest())).toMatchObject({ status: 'sent', response_code: null, success: false });
      expect(await deliveries()).toMatchObject([{ response_code: null, response_time_ms: null }]);
    });

    test('works while the webhook is not active', async () => {
      await shop.patch(hook.path, { is_active: false });

      expect(dataOf(await sendTest())).toMatchObject({ success: true });
    });

    test('of an event type outside the contract is refused', async () => {
      expect(errorOf(await sendTest({ event: 'payment.maybe' }))).toBe('400 invalid_field_value event');
      expect(receiver.arrivals).toEqual([]);
    });

    test('answers its result even when the webhook is deleted during the attempt', async () => {
      answer = async () => {
        await shop.delete(hook.path);
        return 204;
      };

      expect(dataOf(await sendTest())).toMatchObject({ response_code: 204, success: true });
      expect((await shop.get(hook.path)).status).toBe(404);
    });
  });

  describe('that is a retry', () => {
    /** A test that failed, which can be retried like any other delivery. */
    async function failed(): Promise<string> {
      answer = () => 503;
      const id = text(dataOf(await sendTest()).delivery_id);
      answer = () => 200;
      return id;
    }

    test('sends the same bytes for the same event, under another delivery id, and adds an attempt', async () => {
      const id = await failed();

      const sent = await retry(id);

      const [first, second] = receiver.arrivals;
      expect(dataOf(sent)).toEqual({
        delivery_id: id,
        status: 'sent',
        response_code: 200,
        attempts: 2,
        success: true,
      });
      expect(second?.body).toEqual(first?.body);
      expect(second?.headers['x-service-delivery-id']).toBe(`${id}-2`);
      expect(second?.eventId).toBe(first?.eventId);
      expect(await deliveries()).toMatchObject([{ id, status: 'success', attempts: 2, last_error: null }]);
    });

    test('needs a failed delivery', async () => {
      const { delivery_id: succeeded } = dataOf(await sendTest());

      expect(errorOf(await retry(succeeded))).toBe('400 invalid_status_transition');
      expect(receiver.arrivals).toHaveLength(1);
    });

    test('is refused for the second of two at once', async () => {
      const id = await failed();
      const gate = Promise.withResolvers<void>();
      answer = () => gate.promise.then(() => 200);

      const first = retry(id);
      await eventually(() => (receiver.arrivals.length === 2 ? true : undefined));
      const second = await retry(id);
      gate.resolve();

      expect(errorOf(second)).toBe('400 invalid_status_transition');
      expect(dataOf(await first)).toMatchObject({ success: true, attempts: 2 });
      expect(receiver.arrivals).toHaveLength(2);
    });

    test('that fails keeps the automatic retries, and one that succeeds ends them', async () => {
      answer = () => 500;
      const tellers = api.tell();
      await pay(shop);
      const [delivery] = await untilTold(
        api.clock,
        () => deliveries('?event_type=payment.completed'),
        ([one]) => one?.status === 'failed',
      );
      await tellers.stop();
      const id = text(delivery?.id);
      const only = async () => (await deliveries('?event_type=payment.completed'))[0];

      await retry(id);
      const after = await only();
      answer = () => 200;
      await retry(id);

      expect(delivery?.next_attempt_at).not.toBeNull();
      expect(after).toMatchObject({
        next_attempt_at: delivery?.next_attempt_at,
        status: 'failed',
        is_final: false,
        attempts: 2,
      });
      expect(await only()).toMatchObject({
        next_attempt_at: null,
        status: 'success',
        is_final: true,
        attempts: 3,
      });
    });

    test('of a missing delivery is not found', async () => {
      const other = await newWebhook(shop, { url: receiver.url });
      const id = await failed();

      expect(errorOf(await retry(MISSING))).toBe('404 resource_not_found');
      expect(errorOf(await shop.post(`${other.path}/deliveries/${id}/retry`))).toBe('404 resource_not_found');
    });
  });

  describe('with an idempotency key', () => {
    test('is sent once, and repeats answer as before', async () => {
      const first = await sendTest({}, 'a');
      const again = await sendTest({}, 'a');

      expect(again.body).toEqual(first.body);
      expect([first, again].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
      expect(receiver.arrivals).toHaveLength(1);
      expect(errorOf(await sendTest({ event: 'payment.failed' }, 'a'))).toBe(
        '409 idempotency_conflict Idempotency-Key',
      );
    });

    test('is sent once, even with many requests at once, and even when the receiver refuses it', async () => {
      answer = () => 418;
      const id = text(dataOf(await sendTest()).delivery_id);

      const answers = await Promise.all(Array.from({ length: 20 }, () => retry(id, 'b')));

      expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
      expect(dataOf(answers[0] ?? (await retry(id)))).toMatchObject({ response_code: 418, attempts: 2 });
      expect(receiver.arrivals).toHaveLength(2);
    });

    test('that is refused leaves the key unused', async () => {
      const { delivery_id: succeeded } = dataOf(await sendTest());

      expect(errorOf(await retry(succeeded, 'c'))).toBe('400 invalid_status_transition');
      expect((await sendTest({}, 'c')).status).toBe(200);
    });

    test('conflicts for a minute after the sending process died, and is then sent again', async () => {
      await sendTest({}, 'd');
      // State after a process died: the key is taken, and the result of the attempt is never written.
      await transaction(api.db, async handle => {
        const keys = idempotencyStore(handle, api.seals);
        const kept = await keys.find(shop.owner, 'd');
        if (kept === undefined) throw new Error('the answer was not kept');
        await handle.raw('delete from idempotency_keys where key = ?', ['d']);
        await keys.start(shop.owner, 'd', kept.fingerprint, api.clock.now());
      });

      let isOver = false;
      const early = sendTest({}, 'd').finally(() => {
        isOver = true;
      });
      const other = await sendTest({ event: 'payment.failed' }, 'd');
      await untilTold(
        api.clock,
        () => isOver,
        over => over,
      );
      const refused = await early;
      api.clock.advance(60_000);
      const again = await sendTest({}, 'd');

      const conflict = '409 idempotency_conflict Idempotency-Key';
      expect([errorOf(refused), errorOf(other)]).toEqual([conflict, conflict]);
      expect(again.headers.get('idempotent-replayed')).toBeNull();
      expect(dataOf(again)).toMatchObject({ success: true });
      expect(receiver.arrivals).toHaveLength(2);
      expect((await sendTest({}, 'd')).body).toEqual(again.body);
    });

    test('keeps the key taken until the receiver answers', async () => {
      const gate = Promise.withResolvers<void>();
      answer = () => gate.promise.then(() => 200);
      const first = sendTest({}, 'e');
      await eventually(() => (receiver.arrivals.length === 1 ? true : undefined));

      const [row] = await rowsOf<{ status: number }>(
        api.db,
        "select status from idempotency_keys where key = 'e' and organization_id = ?",
        [shop.owner.organizationId],
      );
      gate.resolve();

      expect(row).toEqual({ status: 0 });
      expect((await first).status).toBe(200);
    });
  });
});
