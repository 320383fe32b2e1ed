import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { rowsOf } from '#db/query.ts';
import { record, text } from '../../lab/json.ts';
import { type Answer, startReceiver, type WebhookReceiver } from '../../lab/webhook-receiver.ts';
import { eachDatabase } from '../../support/databases.ts';
import {
  errorOf,
  idsOf,
  type Merchant,
  masked,
  type PaymentsApi,
  startPaymentsApi,
} from '../../support/payments-api.ts';
import { dataOf, listOf, newWebhook, pay, untilTold, WEBHOOKS } from '../../support/webhooks-api.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

eachDatabase('a replay', databases => {
  let api: PaymentsApi;
  let shop: Merchant;
  let receiver: WebhookReceiver;
  let telling: ReturnType<PaymentsApi['tell']>;
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
    telling = api.tell();
    return async () => {
      await telling.stop();
      await receiver[Symbol.asyncDispose]();
    };
  });

  const ago = (ms: number) => new Date(api.clock.now() - ms).toISOString();
  const hook = (fields: object = {}) => newWebhook(shop, { url: receiver.url, events: ['*'], ...fields });
  const replay = (path: string, since: string, headers = {}) =>
    shop.post(`${path}/replay`, { since }, headers);
  const deliveries = async (path: string) => listOf(await shop.get(`${path}/deliveries?limit=100`));
  /** Reads the deliveries, with the retry time of the first: it is set once the last result is written. */
  const toNextAttempt = (path: string) => async () => {
    const all = await deliveries(path);
    const at = all[0]?.next_attempt_at;
    if (typeof at === 'string') api.clock.advance(Math.max(0, Date.parse(at) - api.clock.now()));
    return all;
  };
  const arrived = () => receiver.arrivals.map(({ body }) => text(record(JSON.parse(String(body))).id));
  const isDone = (all: Record<string, unknown>[]) => all.every(({ status }) => status === 'success');

  test('sends events from before the webhook existed, each once and the earliest first', async () => {
    const start = ago(0);
    for (const _ of [1, 2, 3]) {
      await pay(shop);
      api.clock.advance(MINUTE);
    }
    // An event that is not yet relayed would reach the webhook without a replay.
    await untilTold(
      api.clock,
      () => rowsOf(api.db, 'select id from events where next_attempt_at is not null'),
      rows => rows.length === 0,
    );
    const { path, id } = await hook({ events: ['payment.completed'] });

    const begun = await replay(path, start);

    expect([begun.status, dataOf(begun)]).toEqual([
      200,
      { object: 'webhook_replay', webhook_id: id, since: start, count: 3, has_more: false },
    ]);
    await untilTold(
      api.clock,
      () => deliveries(path),
      all => all.length === 3 && isDone(all),
    );
    const told = idsOf(await shop.get('/api/v1/events?type=payment.completed'));
    expect((await deliveries(path)).map(one => one.event_id).toSorted()).toEqual(told.toSorted());
    expect(arrived().toSorted()).toEqual(told.toSorted());
  });

  test('skips delivered events, so repeating it sends nothing', async () => {
    const start = ago(0);
    const { path } = await hook();
    await pay(shop);
    await untilTold(
      api.clock,
      () => deliveries(path),
      all => all.length === 2 && isDone(all),
    );

    const begun = await replay(path, start);
    api.clock.advance(10 * MINUTE);

    expect(dataOf(begun)).toMatchObject({ count: 0, has_more: false });
    expect(dataOf(await replay(path, start))).toMatchObject({ count: 0 });
    expect(receiver.arrivals).toHaveLength(2);
  });

  test('restarts a delivery that failed for good, and skips one whose retry is still due', async () => {
    const start = ago(0);
    const { path } = await hook({ events: ['payment.completed'] });
    answer = () => 500;
    await pay(shop);
    await untilTold(
      api.clock,
      () => deliveries(path),
      ([one]) => one?.status === 'failed',
    );
    const retried = await replay(path, start);
    await untilTold(api.clock, toNextAttempt(path), ([one]) => one?.is_final === true);
    answer = () => 200;

    const begun = await replay(path, start);

    expect([dataOf(retried).count, dataOf(begun).count]).toEqual([0, 1]);
    const [one] = await untilTold(api.clock, () => deliveries(path), isDone);
    expect(one).toMatchObject({ status: 'success', attempts: 5, is_final: true });
    expect(dataOf(await shop.get(path))).toMatchObject({
      success_count: 1,
      failure_count: 1,
      is_active: true,
    });
  });

  test('goes back thirty days at most', async () => {
    await pay(shop);
    const { path } = await hook();

    api.clock.advance(30 * DAY + 1);
    const begun = await replay(path, '2000-01-01T00:00:00Z');

    expect(dataOf(begun)).toMatchObject({ count: 0, since: ago(30 * DAY) });
  });

  test('runs once at a time per webhook, and an Idempotency-Key repeats its answer', async () => {
    await telling.stop();
    const start = ago(0);
    await pay(shop);
    const { path } = await hook();
    const headers = { 'Idempotency-Key': path };

    const first = await replay(path, start, headers);
    const second = await replay(path, start);
    const again = await replay(path, start, headers);

    expect([errorOf(second), again.body]).toEqual(['400 invalid_status_transition', first.body]);
    telling = api.tell();
    await untilTold(
      api.clock,
      () => deliveries(path),
      all => all.length === 2 && isDone(all),
    );
    expect(dataOf(await replay(path, start))).toMatchObject({ count: 0 });
    expect(receiver.arrivals).toHaveLength(2);
  });

  test('begins once when several are requested at the same time', async () => {
    await telling.stop();
    const start = ago(0);
    await pay(shop);
    const { path } = await hook();

    const answers = await Promise.all(Array.from({ length: 6 }, () => replay(path, start)));

    const [begun, ...refused] = answers.toSorted((a, b) => a.status - b.status);
    expect(begun?.status).toBe(200);
    expect(refused.map(errorOf)).toEqual(Array.from({ length: 5 }, () => '400 invalid_status_transition'));
    telling = api.tell();
  });

  test('ends when its webhook becomes inactive, and does not begin for an inactive one', async () => {
    await telling.stop();
    const start = ago(0);
    await pay(shop);
    const { path } = await hook();
    await replay(path, start);
    await shop.patch(path, { is_active: false });

    const refused = await replay(path, start);
    telling = api.tell();
    const { length } = await untilTold(
      api.clock,
      () => rowsOf(api.db, 'select id from webhook_replays'),
      rows => rows.length === 0,
    );

    expect([errorOf(refused), length]).toEqual(['400 invalid_status_transition', 0]);
    expect(await deliveries(path)).toEqual([]);
  });

  test('since a future or an invalid time is refused', async () => {
    const { path } = await hook();

    expect(errorOf(await replay(path, ago(-1)))).toBe('400 invalid_field_value since');
    expect(errorOf(await replay(path, 'yesterday'))).toBe('400 invalid_field_value since');
    expect(errorOf(await shop.post(`${path}/replay`, {}))).toBe('400 missing_required_field since');
  });

  test('of another owner’s webhook is refused exactly like one of a missing webhook', async () => {
    const other = await api.merchant();
    const { id, path } = await hook();
    const missing = 'wh_000000000000000000000000';
    const body = { since: ago(0) };

    const hidden = await other.post(`${path}/replay`, body);
    const unknown = await other.post(`${WEBHOOKS}/${missing}/replay`, body);

    expect(masked(hidden, id)).toEqual(masked(unknown, missing));
    expect(hidden.status).toBe(404);
  });
});
