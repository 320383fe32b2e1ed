import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createLogger } from '#lib/logger.ts';
import { retentionWorker } from '#payments/retention.ts';
import { deliveryQueue } from '#payments/webhooks/delivery-queue.ts';
import { DELIVERY_LIFETIME_MS, deliveryStore } from '#payments/webhooks/store/delivery-store.ts';
import { LEASE_MS } from '#payments/webhooks/store/due-deliveries.ts';
import { list, record, text } from '../../lab/json.ts';
import { LOOPBACK_ONLY, startTestPayments, unreachableChain } from '../../lab/payments-service.ts';
import { until } from '../../lab/until.ts';
import { startReceiver } from '../../lab/webhook-receiver.ts';
import { bothDatabases, sqliteDatabase, type TestDatabase } from '../../support/databases.ts';
import { startPaymentsApi } from '../../support/payments-api.ts';
import { aDelivery, aWebhook } from '../../support/webhook-records.ts';
import { dataOf, listOf, newWebhook, WEBHOOKS } from '../../support/webhooks-api.ts';

const folders: string[] = [];
afterAll(() => Promise.all(folders.map(folder => rm(folder, { recursive: true }))));

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'webhooks-'));
  folders.push(folder);
  return folder;
}

async function newDatabase(): Promise<TestDatabase> {
  const database = await sqliteDatabase('payments');
  onTestFinished(database.remove);
  return database;
}

/** A log whose lines are kept. */
function listening() {
  const lines: string[] = [];
  const log = createLogger({ level: 'trace', destination: { write: line => lines.push(line) } });
  return { log, lines };
}

bothDatabases('the running service', databases => {
  test('notifies a webhook and a person of a payment, and shows no secret in its log or other answers', async () => {
    await using receiver = await startReceiver();
    const mailFolder = await newFolder();
    const { log, lines } = listening();
    const outgoing = { ...LOOPBACK_ONLY, mailFolder };
    await using service = await startTestPayments(await databases.create('payments'), { log, outgoing });
    const answers: string[] = [];
    const ask = async (method: string, path: string, body?: object) => {
      const response = await fetch(`${service.url}/api/v1${path}`, {
        method,
        headers: { Authorization: `Bearer ${service.demoKey}`, 'Content-Type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const content = await response.text();
      if (method !== 'POST' || path !== '/webhooks') answers.push(content);
      return record(JSON.parse(content));
    };
    await ask('PATCH', '/notifications', { email_enabled: true, email_address: 'shop@books.example' });
    const created = await ask('POST', '/webhooks', { url: `${receiver.url}/hook`, events: ['*'] });
    const webhook = record(created.data);
    const link = await ask('POST', '/payment-links', { name: 'Field notebooks', amount: '7' });

    const session = await ask('POST', '/checkout-sessions', { payment_link_id: link.id });
    await ask('POST', `/test/sessions/${session.id}/simulate`, { outcome: 'completed' });

    const told = await until(
      async () => receiver.arrivals.map(({ body }) => text(record(JSON.parse(String(body))).event)),
      all => all.length === 2,
    );
    const isMail = (file: string) => file.endsWith('.eml');
    const mails = await until(
      async () => (await readdir(mailFolder)).filter(isMail),
      all => all.length === 2,
    );
    await ask('POST', `/webhooks/${webhook.id}/test`, {});
    const deliveries = await ask('GET', `/webhooks/${webhook.id}/deliveries`);
    await ask('GET', '/webhooks');
    await ask('GET', `/webhooks/${webhook.id}`);
    expect(told.toSorted()).toEqual(['checkout.completed', 'payment.completed']);
    expect(mails).toHaveLength(2);
    expect(list(deliveries.data)).toHaveLength(3);
    const secret = text(webhook.secret);
    for (const place of [lines.join(), answers.join()]) {
      expect(place.length).toBeGreaterThan(500);
      expect(place).not.toContain(secret.slice('whsec_'.length));
      expect(place).not.toContain(text(service.demoKey));
    }
  });

  test('removes deliveries after 30 days', async () => {
    await using receiver = await startReceiver();
    await using api = await startPaymentsApi(await databases.create('payments'));
    const shop = await api.merchant();
    const { path } = await newWebhook(shop, { url: receiver.url });
    await shop.post(`${path}/test`);
    api.clock.advance(1);
    const { delivery_id: young } = dataOf(await shop.post(`${path}/test`));
    const worker = retentionWorker(api);

    api.clock.advance(DELIVERY_LIFETIME_MS);
    const removed = await worker.runOnce(new AbortController().signal);

    expect(removed).toBe(1);
    expect(listOf(await shop.get(`${path}/deliveries`))).toMatchObject([{ id: young }]);
  });

  test('removes a delivery after 30 days although a crash interrupted it and its webhook was switched off', async () => {
    await using api = await startPaymentsApi(await databases.create('payments'));
    const shop = await api.merchant();
    const { path, id } = await newWebhook(shop, { url: 'https://books.example/hooks' });
    const now = api.clock.now();
    const delivery = aDelivery(aWebhook(shop.owner, { id }), { createdAt: now, nextAttemptAt: now });
    await deliveryStore(api.db, api.seals).insert([{ delivery, body: '{}' }]);
    const { log } = listening();
    await deliveryQueue({ ...api, log }).exchange({ wanted: [{ webhookId: id, limit: 1 }] });
    await shop.patch(path, { is_active: false });
    const [interrupted] = listOf(await shop.get(`${path}/deliveries`));

    api.clock.advance(DELIVERY_LIFETIME_MS + LEASE_MS + 1);
    await retentionWorker(api).runOnce(new AbortController().signal);

    expect(interrupted).toMatchObject({ id: delivery.id, attempts: 1, status: 'pending' });
    expect(listOf(await shop.get(`${path}/deliveries`))).toEqual([]);
  });
});

test('the operator’s allowances for webhooks are logged at start, if there are any', async () => {
  const nothing = { ...LOOPBACK_ONLY.webhooks, allowedNetworks: [], allowHttp: false };
  const database = await newDatabase();
  const said = async (webhooks: typeof LOOPBACK_ONLY.webhooks) => {
    const { log, lines } = listening();
    const outgoing = { ...LOOPBACK_ONLY, webhooks };
    await using _ = await startTestPayments(database.options, { log, outgoing, chains: [unreachableChain] });
    return lines.map(line => record(JSON.parse(line))).filter(line => 'allowHttp' in line);
  };

  expect(await said(nothing)).toEqual([]);
  expect(await said({ ...nothing, allowedNetworks: ['10.0.0.0/8'] })).toMatchObject([
    { level: 40, allowedNetworks: ['10.0.0.0/8'], allowHttp: false },
  ]);
  expect(await said({ ...nothing, allowHttp: true })).toMatchObject([
    { allowedNetworks: [], allowHttp: true },
  ]);
});

test('a service without allowances refuses a receiver on its own machine', async () => {
  const database = await newDatabase();
  const webhooks = { ...LOOPBACK_ONLY.webhooks, allowedNetworks: [], allowHttp: false };
  await using service = await startTestPayments(database.options, {
    outgoing: { ...LOOPBACK_ONLY, webhooks },
  });

  const response = await fetch(service.url + WEBHOOKS, {
    method: 'POST',
    headers: { Authorization: `Bearer ${service.demoKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ url: 'https://127.0.0.1/', events: ['*'] }),
  });

  expect(response.status).toBe(400);
  expect(record(record(await response.json()).error)).toMatchObject({ param: 'url' });
});
