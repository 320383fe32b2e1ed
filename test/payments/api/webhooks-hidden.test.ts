import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { text } from '../../lab/json.ts';
import { startReceiver, type WebhookReceiver } from '../../lab/webhook-receiver.ts';
import { eachDatabase } from '../../support/databases.ts';
import {
  type ApiClient,
  type Merchant,
  masked,
  type PaymentsApi,
  startPaymentsApi,
} from '../../support/payments-api.ts';
import { dataOf, listOf, newWebhook, WEBHOOKS } from '../../support/webhooks-api.ts';

const MISSING = 'wh_000000000000000000000000';
const MISSING_DELIVERY = 'del_000000000000000000000000';

/** Every request that names a webhook. */
const REQUESTS: readonly [string, (client: ApiClient, path: string) => ReturnType<ApiClient['get']>][] = [
  ['getWebhook', (client, path) => client.get(path)],
  ['updateWebhook', (client, path) => client.patch(path, { is_active: false })],
  ['deleteWebhook', (client, path) => client.delete(path)],
  ['testWebhook', (client, path) => client.post(`${path}/test`)],
  ['rotateWebhookSecret', (client, path) => client.post(`${path}/rotate-secret`, {})],
  ['replayWebhook', (client, path) => client.post(`${path}/replay`, { since: '2026-01-01T00:00:00Z' })],
  ['listWebhookDeliveries', (client, path) => client.get(`${path}/deliveries`)],
  ['getWebhookDelivery', (client, path) => client.get(`${path}/deliveries/${MISSING_DELIVERY}`)],
  ['retryWebhookDelivery', (client, path) => client.post(`${path}/deliveries/${MISSING_DELIVERY}/retry`)],
];

eachDatabase('another owner’s webhook', databases => {
  let api: PaymentsApi;
  let receiver: WebhookReceiver;
  let ours: Merchant;
  let theirs: { merchant: Merchant; id: string; path: string; delivery: string };

  beforeAll(async () => {
    api = await startPaymentsApi(await databases.create('payments'));
    receiver = await startReceiver(() => 500);
    ours = await api.merchant();
    const merchant = await api.merchant();
    const { id, path } = await newWebhook(merchant, { url: receiver.url });
    const delivery = text(dataOf(await merchant.post(`${path}/test`)).delivery_id);
    theirs = { merchant, id, path, delivery };
  });
  afterAll(async () => {
    await receiver[Symbol.asyncDispose]();
    await api[Symbol.asyncDispose]();
  });

  describe.each(REQUESTS)('answers to %s', (_, ask) => {
    test('exactly like a missing one: status, headers and body', async () => {
      const hidden = await ask(ours, theirs.path);
      const missing = await ask(ours, `${WEBHOOKS}/${MISSING}`);

      expect(masked(hidden, theirs.id)).toEqual(masked(missing, MISSING));
      expect(hidden.status).toBe(404);
      expect(hidden.body).toMatchObject({
        error: { code: 'resource_not_found', message: `No webhook with id '${theirs.id}'.` },
      });
    });

    test('exactly like a missing one when it is of the caller’s other mode', async () => {
      const live = await ours.withKey({ mode: 'live' });
      const { id, path } = await newWebhook(live, { url: receiver.url });

      const hidden = await ask(ours, path);
      const missing = await ask(ours, `${WEBHOOKS}/${MISSING}`);

      expect(masked(hidden, id)).toEqual(masked(missing, MISSING));
      expect((await live.get(path)).status).toBe(200);
    });
  });

  test('shows no delivery through a webhook of the caller', async () => {
    const { path } = await newWebhook(ours, { url: receiver.url });

    const hidden = await ours.post(`${path}/deliveries/${theirs.delivery}/retry`);
    const missing = await ours.post(`${path}/deliveries/${MISSING_DELIVERY}/retry`);
    const unread = await ours.get(`${path}/deliveries/${theirs.delivery}`);

    expect(masked(hidden, theirs.delivery)).toEqual(masked(missing, MISSING_DELIVERY));
    expect([hidden.status, unread.status]).toEqual([404, 404]);
    expect(unread.body).toEqual(hidden.body);
  });

  test('is unchanged and received nothing', async () => {
    const { merchant, path, delivery, id } = theirs;

    expect(dataOf(await merchant.get(path))).toMatchObject({
      id,
      is_active: true,
      previous_secret_expires_at: null,
    });
    expect(listOf(await merchant.get(`${path}/deliveries`))).toMatchObject([{ id: delivery, attempts: 1 }]);
    expect(receiver.arrivals).toHaveLength(1);
    expect(listOf(await ours.get(WEBHOOKS)).map(one => one.id)).not.toContain(id);
  });

  test.each(['x', 'wh_', 'x'.repeat(200), "' or 1=1 --", '%2e%2e', '🎉'])(
    'and any malformed id are not found: %s',
    async id => {
      const answer = await ours.get(`${WEBHOOKS}/${encodeURIComponent(id)}`);

      expect(answer).toMatchObject({ status: 404, body: { error: { code: 'resource_not_found' } } });
    },
  );
});
