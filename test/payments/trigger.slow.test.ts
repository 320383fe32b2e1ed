import { afterAll, beforeAll, expect, test } from 'vitest';
import { readTriggerCommand } from '../../src/command/api/trigger.ts';
import { newKey } from '../../src/payments/keys/api-key.ts';
import { list, record, text } from '../lab/json.ts';
import { startTestPayments, type TestPaymentsService } from '../lab/payments-service.ts';
import { until } from '../lab/until.ts';
import { startReceiver } from '../lab/webhook-receiver.ts';
import { sqliteDatabase } from '../support/databases.ts';
import { script } from '../support/script.ts';

const run = script('trigger.ts');

let database: Awaited<ReturnType<typeof sqliteDatabase>>;
let service: TestPaymentsService;
let place: string[];

beforeAll(async () => {
  database = await sqliteDatabase('payments');
  service = await startTestPayments(database.options);
  place = ['--url', service.url, '--key', service.demoKey ?? ''];
});
afterAll(async () => {
  await service.close();
  await database.remove();
});

async function ask(path: string, body?: object): Promise<Record<string, unknown>> {
  const headers = { Authorization: `Bearer ${service.demoKey}`, 'Content-Type': 'application/json' };
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  return record(await (await fetch(`${service.url}/api/v1${path}`, { ...init, headers })).json());
}

async function newWebhook(url: string): Promise<string> {
  const { data } = await ask('/webhooks', { url, events: ['*'] });
  return text(record(data).id);
}

test.each([
  ['payment.completed', ['payment.completed', 'checkout.completed']],
  ['checkout.completed', ['payment.completed', 'checkout.completed']],
  ['payment.failed', ['payment.failed']],
  ['checkout.expired', ['checkout.expired']],
])('%s really happens: it is printed, listed and delivered to webhooks', async (type, events) => {
  await using receiver = await startReceiver();
  await newWebhook(receiver.url);

  const { code, out, err } = await run(type, ...place);

  expect([code, err]).toEqual([0, '']);
  const printed = out
    .trim()
    .split('\n')
    .map(line => line.split('  '));
  expect(printed.map(([, event]) => event)).toEqual(events);
  const ids = printed.map(([id]) => id);
  const { data } = await ask(`/events?limit=${ids.length}`);
  expect(list(data).map(event => record(event).id)).toEqual(ids.toReversed());
  const told = await until(
    async () => receiver.arrivals.map(({ eventId }) => eventId),
    all => all.length === ids.length,
  );
  expect(told.toSorted()).toEqual(ids.toSorted());
});

test('all triggered events share one link, unless another one is named', async () => {
  await run('payment.failed', ...place);
  await run('payment.failed', ...place);
  const link = await ask('/payment-links', { name: 'Field notebooks' });

  const { code } = await run('payment.failed', ...place, '--link', text(link.id), '--amount', '77');

  expect(code).toBe(0);
  expect((await ask('/payment-links?search=Triggered')).total_count).toBe(1);
  const { data } = await ask('/events?limit=1');
  const { payment_link_id, amount } = record(record(list(data)[0]).data);
  expect(payment_link_id).toBe(link.id);
  // The price and its tail, with eight decimal places.
  const due = BigInt(text(amount));
  expect(due % 10n ** 10n).toBe(0n);
  expect(due).toBeGreaterThan(77n);
  expect(due).toBeLessThanOrEqual(10n ** 14n);
});

test('a test goes only to the named webhook and creates no event', async () => {
  await using receiver = await startReceiver();
  const id = await newWebhook(receiver.url);
  const before = (await ask('/events')).total_count;

  const ping = await run('test.ping', ...place, '--to', id);
  const madeUp = await run('payment.failed', ...place, '--to', id);

  expect([ping.code, ping.out]).toEqual([0, expect.stringMatching(/^del_\w{24} {2}test\.ping {2}204\n$/)]);
  expect(madeUp.out).toMatch(/ {2}payment\.failed {2}204\n$/);
  expect(receiver.arrivals.map(({ headers }) => headers['x-service-event'])).toEqual([
    'test.ping',
    'payment.failed',
  ]);
  expect((await ask('/events')).total_count).toBe(before);
});

test('a test that its receiver refuses is reported, and exits with 1', async () => {
  await using receiver = await startReceiver(() => 418);
  const { code, out, err } = await run('test.ping', ...place, '--to', await newWebhook(receiver.url));

  expect([code, out]).toEqual([1, '']);
  expect(err).toMatch(/^The receiver did not take it: del_\w+ {2}test\.ping {2}418\n$/);
});

test('a refusal of the server and a missing server are reported, and exit with 1', async () => {
  const missing = await run('test.ping', ...place, '--to', 'wh_000000000000000000000000');
  const nobody = await run('payment.completed', '--url', 'http://127.0.0.1:9', '--key', 'k');

  expect([missing.code, missing.err]).toEqual([1, expect.stringMatching(/^resource_not_found: /)]);
  expect([nobody.code, nobody.err]).toEqual([
    1,
    expect.stringContaining('does not answer as a payments server'),
  ]);
});

test('an invalid command exits with 2 and names the help', async () => {
  const { code, err } = await run('payment.failed');

  expect(code).toBe(2);
  expect(err).toContain('the API key is missing');
  expect(err).toContain('"tollgate trigger --help" shows the options.');
});

test.each([
  ['no event', [], 'name one event of'],
  ['an unknown event', ['payment.done'], 'name one event of'],
  ['no key', ['payment.failed'], 'the API key is missing'],
  ['a ping without a webhook', ['test.ping', '--key', 'k'], 'name it with --to'],
  [
    'a payment to one webhook',
    ['payment.failed', '--key', 'k', '--to', 'w', '--amount', '1'],
    '--link and --amount cannot be used with --to',
  ],
  ['real money', ['payment.failed', '--key', newKey('live')], 'use a test key'],
])('%s is refused', (_, args, fault) => {
  expect(() => readTriggerCommand(args)).toThrow(fault);
});
