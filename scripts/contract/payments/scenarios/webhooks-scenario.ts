import { child, type JsonObject, list } from '#contract/contracts/document.ts';
import { systemClock } from '#lib/clock.ts';
import { randomBase62 } from '#lib/ids.ts';
import { isObject } from '#lib/json.ts';
import type { Tester } from '../tester.ts';

/** Unreachable receiver: the name is reserved (RFC 6761), so every attempt fails quickly. */
const NOBODY = 'https://receiver.example/hook';

/**
 * Creates a webhook with an unreachable receiver, changes it, replaces its secret, tests it and retries a delivery;
 * creates another one and deletes it. Both are disabled at once, so that they receive no other events of the run.
 * Returns the first, which the clean-up deletes; undefined, with a finding, when none can be created.
 */
export async function webhooksStory(tester: Tester): Promise<JsonObject | undefined> {
  const headers = { 'idempotency-key': `contract-run-${randomBase62(12)}` };
  const body = { url: NOBODY, events: ['payment.completed'], description: 'Contract run' };
  const first = await tester.ask('createWebhook', { body, headers }, ['201']);
  if (first.status !== 201) return undefined;
  const webhook = child(first.body, 'data');
  const at = { webhook_id: String(webhook.id) };
  await changes(tester, at);
  const again = await tester.ask('createWebhook', { body, headers }, ['201']);
  if (first.text !== again.text || again.headers['idempotent-replayed'] !== 'true') {
    tester.report('createWebhook: a request with the same Idempotency-Key has another answer');
  }

  await refusals(tester, at);
  await rotations(tester, at, webhook.secret);
  const tested = await tests(tester, at);
  await retries(tester, { ...at, delivery_id: tested });
  await deletion(tester);
  return webhook;
}

type At = Readonly<Record<string, string>>;

async function changes(tester: Tester, at: At): Promise<void> {
  const body = { is_active: false, events: ['*', '*'], description: null };
  const changed = await tester.ask('updateWebhook', { at, body }, ['200']);
  const { is_active, events, description } = child(changed.body, 'data');
  if (is_active !== false || String(events) !== '*' || description !== null) {
    tester.report('updateWebhook: the response lacks the change');
  }
  const read = await tester.ask('getWebhook', { at }, ['200']);
  if (read.text !== changed.text) tester.report('getWebhook: differs from the response to the change');
  const { body: listed } = await tester.ask('listWebhooks', { query: 'limit=100' }, ['200']);
  const own = list(listed, 'data').find(one => isObject(one) && one.id === at.webhook_id);
  if (JSON.stringify(own) !== JSON.stringify(child(read.body, 'data'))) {
    tester.report(`listWebhooks: ${at.webhook_id} differs from its own record`);
  }
}

async function refusals(tester: Tester, at: At): Promise<void> {
  const events = ['payment.completed', '*'];
  const refused = async (body: JsonObject, place: string) => {
    await tester.ask('createWebhook', { body: { url: NOBODY, events: ['*'], ...body } }, [place]);
    await tester.ask('updateWebhook', { at, body }, [place]);
  };
  await refused({ events }, '400 invalid_field_value events');
  await refused({ events: ['test.ping'] }, '400 invalid_field_value events.0');
  // Metadata service of clouds, which holds secrets of the machine.
  await refused({ url: 'https://169.254.169.254/latest/meta-data' }, '400 invalid_field_value url');
  await refused({ url: 'https://user:word@receiver.example/' }, '400 invalid_field_value url');
}

async function rotations(tester: Tester, at: At, first: unknown): Promise<void> {
  const rotate = async (seconds: number, expected: string) => {
    const body = { grace_period_seconds: seconds };
    const { body: answer } = await tester.ask('rotateWebhookSecret', { at, body }, [expected]);
    return child(answer, 'data').secret;
  };
  const second = await rotate(60, '200');
  await rotate(60, '400 invalid_status_transition');
  const third = await rotate(0, '200');
  if (new Set([first, second, third]).size < 3)
    tester.report('rotateWebhookSecret: the secret stays the same');
}

/** Sends two test events, which both fail. Returns the delivery of one. */
async function tests(tester: Tester, at: At): Promise<string> {
  const headers = { 'idempotency-key': `contract-run-${randomBase62(12)}` };
  const first = await tester.ask('testWebhook', { at, body: {}, headers }, ['200']);
  const again = await tester.ask('testWebhook', { at, body: {}, headers }, ['200']);
  if (first.text !== again.text) tester.report('testWebhook: a repeated Idempotency-Key starts another test');
  const named = await tester.ask('testWebhook', { at, body: { event: 'payment.failed' } }, ['200']);

  const { body } = await tester.ask('listWebhookDeliveries', { at }, ['200']);
  const deliveries = list(body, 'data').filter(entry => isObject(entry));
  if (deliveries.length !== 2)
    tester.report(`listWebhookDeliveries: has ${deliveries.length} deliveries of two tests`);
  for (const { body: result } of [first, named]) {
    const { delivery_id, success, response_code } = child(result, 'data');
    if (success !== false || response_code !== null)
      tester.report('testWebhook: an unreachable receiver responded');
    const { status, is_final, is_test, attempts } =
      deliveries.find(({ id }) => id === delivery_id) ?? ({} satisfies JsonObject);
    if (status !== 'failed' || is_final !== true || is_test !== true || attempts !== 1) {
      tester.report(`listWebhookDeliveries: ${delivery_id} is not a failed test`);
    }
  }
  return String(child(named.body, 'data').delivery_id);
}

async function retries(tester: Tester, at: At): Promise<void> {
  const { body } = await tester.ask('retryWebhookDelivery', { at }, ['200']);
  const { attempts, success } = child(body, 'data');
  if (attempts !== 2 || success !== false) {
    tester.report(`retryWebhookDelivery: success is ${success}, and attempts ${attempts} instead of 2`);
  }
  const { webhook_id = '' } = at;
  await tester.ask('retryWebhookDelivery', { at: { webhook_id } }, ['404 resource_not_found']);
  const query = 'status=failed&event_type=payment.failed';
  const { body: found } = await tester.ask('listWebhookDeliveries', { at, query }, ['200']);
  const [one, ...others] = list(found, 'data').filter(entry => isObject(entry));
  if (one?.id !== at.delivery_id || one?.attempts !== 2 || others.length > 0) {
    tester.report(`listWebhookDeliveries?${query}: is not the retried delivery`);
  }
}

/** Tests a replay of the last second, which has few events or none; none reaches the receiver. */
async function replays(tester: Tester, at: At): Promise<void> {
  const body = { since: new Date(systemClock.now() - 1000).toISOString() };
  const headers = { 'idempotency-key': `contract-run-${randomBase62(12)}` };
  const first = await tester.ask('replayWebhook', { at, body, headers }, ['200']);
  const again = await tester.ask('replayWebhook', { at, body, headers }, ['200']);
  if (first.text !== again.text) {
    tester.report('replayWebhook: a repeated Idempotency-Key starts another replay');
  }
  const future = { since: '2999-01-01T00:00:00Z' };
  await tester.ask('replayWebhook', { at, body: future }, ['400 invalid_field_value since']);
  await tester.ask('updateWebhook', { at, body: { is_active: false } }, ['200']);
  await tester.ask('replayWebhook', { at, body }, ['400 invalid_status_transition']);
}

async function deletion(tester: Tester): Promise<void> {
  const body = { url: NOBODY, events: ['payment.failed'] };
  const made = await tester.ask('createWebhook', { body }, ['201']);
  const at = { webhook_id: String(child(made.body, 'data').id) };
  await replays(tester, at);
  await tester.ask('deleteWebhook', { at }, ['200']);
  await tester.ask('getWebhook', { at }, ['404 resource_not_found']);
  await tester.ask('listWebhookDeliveries', { at }, ['404 resource_not_found']);
  await tester.ask('deleteWebhook', { at }, ['404 resource_not_found']);
}
