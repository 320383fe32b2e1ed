import { child, type JsonObject, list } from '#contract/contracts/document.ts';
import { systemClock } from '#lib/clock.ts';
import { randomBase62 } from '#lib/ids.ts';
import { isObject } from '#lib/json.ts';
import type { Tester } from '../tester.ts';

/** Nobody is ever there: the name is reserved (RFC 6761). So every attempt fails, and soon. */
const NOBODY = 'https://receiver.example/hook';

/**
 * Makes a webhook whose receiver does not exist, changes it, replaces its secret, tests it and tries a delivery again;
 * makes another one and deletes it. Both are switched off at once: what else the run lets happen is not for them. Answers
 * with the first, which whoever cleans up deletes; undefined when none can be made, which is then a finding.
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
    tester.report('updateWebhook: what was changed is not in its answer');
  }
  const read = await tester.ask('getWebhook', { at }, ['200']);
  if (read.text !== changed.text) tester.report('getWebhook: is not what the change answered');
  const { body: listed } = await tester.ask('listWebhooks', { query: 'limit=100' }, ['200']);
  const own = list(listed, 'data').find(one => isObject(one) && one.id === at.webhook_id);
  if (JSON.stringify(own) !== JSON.stringify(child(read.body, 'data'))) {
    tester.report(`listWebhooks: ${at.webhook_id} is another than by itself`);
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
  // Where clouds tell a machine its secrets.
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

/** Sends two tests, of which nobody gets any; answers with the delivery of one. */
async function tests(tester: Tester, at: At): Promise<string> {
  const headers = { 'idempotency-key': `contract-run-${randomBase62(12)}` };
  const first = await tester.ask('testWebhook', { at, body: {}, headers }, ['200']);
  const again = await tester.ask('testWebhook', { at, body: {}, headers }, ['200']);
  if (first.text !== again.text)
    tester.report('testWebhook: with the same Idempotency-Key it is another test');
  const named = await tester.ask('testWebhook', { at, body: { event: 'payment.failed' } }, ['200']);

  const { body } = await tester.ask('listWebhookDeliveries', { at }, ['200']);
  const deliveries = list(body, 'data').filter(entry => isObject(entry));
  if (deliveries.length !== 2) tester.report(`listWebhookDeliveries: has ${deliveries.length} of two tests`);
  for (const { body: result } of [first, named]) {
    const { delivery_id, success, response_code } = child(result, 'data');
    if (success !== false || response_code !== null)
      tester.report('testWebhook: somebody is where nobody can be');
    const { status, is_final, is_test, attempts } =
      deliveries.find(({ id }) => id === delivery_id) ?? ({} satisfies JsonObject);
    if (status !== 'failed' || is_final !== true || is_test !== true || attempts !== 1) {
      tester.report(`listWebhookDeliveries: ${delivery_id} is no test that failed`);
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
    tester.report(`listWebhookDeliveries?${query}: is not what was tried again`);
  }
}

/** Of a second nothing, or little, was missed; and what is sent again reaches nobody. */
async function replays(tester: Tester, at: At): Promise<void> {
  const body = { since: new Date(systemClock.now() - 1000).toISOString() };
  const headers = { 'idempotency-key': `contract-run-${randomBase62(12)}` };
  const first = await tester.ask('replayWebhook', { at, body, headers }, ['200']);
  const again = await tester.ask('replayWebhook', { at, body, headers }, ['200']);
  if (first.text !== again.text) {
    tester.report('replayWebhook: with the same Idempotency-Key it is another replay');
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
