import { expect, test } from 'vitest';
import { child, list, resolve } from '../../src/contract/contracts/document.ts';
import type { OperationRow } from '../../src/contract/contracts/operations.ts';
import { paymentsContract } from '../../src/contract/contracts/payments.ts';
import { bodyViolation } from '../../src/contract/contracts/violations.ts';
import { responseValidators } from '../../src/contract/mount/response-validators.ts';
import { isObject } from '../../src/lib/json.ts';

const { document, table } = paymentsContract;
const rows = Object.values<OperationRow>(table);
const WEBHOOK = {
  object: 'webhook',
  id: `wh_${'a'.repeat(24)}`,
  mode: 'live',
  url: 'https://books.example/hook',
  events: ['*'],
  description: null,
  store_responses: false,
  secret: `whsec_${'A'.repeat(43)}=`,
  is_active: true,
  disabled_reason: null,
  disabled_at: null,
  success_count: 0,
  failure_count: 0,
  last_triggered_at: null,
  previous_secret_expires_at: null,
  created_at: '2026-11-21T09:30:00.000Z',
  updated_at: '2026-11-21T09:30:00.000Z',
};

/** Code and position of a body's first fault; undefined for a valid body. */
function faultOf(id: string, body: unknown): string | undefined {
  const validate = paymentsContract.bodies?.[id];
  if (validate === undefined) throw new Error(`${id} takes no body`);
  if (validate(body)) return undefined;
  const { code, param } = bodyViolation(validate.errors);
  return `${code} ${param}`;
}

test('every outgoing event has the same headers: the document’s, and those of Standard Webhooks', () => {
  const carried = Object.values(child(document, 'webhooks')).map(hook =>
    list(child(isObject(hook) ? hook : {}, 'post'), 'parameters').map(parameter => {
      const { name, required = false } = resolve(document, parameter);
      return `${name}${required === true ? '' : '?'}`;
    }),
  );

  expect(carried).toHaveLength(13);
  for (const headers of carried) {
    expect(headers).toEqual([
      'X-Service-Signature',
      'X-Service-Signature-Previous?',
      'X-Service-Webhook-Id',
      'X-Service-Delivery-Id',
      'X-Service-Event-Id',
      'X-Service-Event',
      'X-Service-Timestamp',
      'X-Service-Test?',
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
    ]);
  }
});

test('a test event is delivered and listed as a delivery, but cannot be subscribed to and is not listed as an event', () => {
  const schemas = child(child(document, 'components'), 'schemas');

  expect(list(child(schemas, 'DeliveryEventType'), 'enum')).toContain('test.ping');
  expect(list(child(schemas, 'EventType'), 'enum')).not.toContain('test.ping');
  expect(faultOf('createWebhook', { url: 'https://a.example', events: ['test.ping'] })).toBe(
    'invalid_field_value events.0',
  );
});

test('only the answers to creation and rotation contain a webhook’s secret', async () => {
  const validators = responseValidators(paymentsContract.document);
  const { secret, ...shown } = WEBHOOK;
  const answered = rows
    .filter(({ path }) => path.startsWith('/api/v1/webhooks'))
    .flatMap(({ id, statuses }) => statuses.filter(status => status < 300).map(status => ({ id, status })));
  const allowing = answered.filter(({ id, status }) =>
    [{ ...shown, secret }, [{ ...shown, secret }]].some(data =>
      validators(id, status)?.({ success: true, data }),
    ),
  );

  expect(allowing).toEqual([
    { id: 'createWebhook', status: 201 },
    { id: 'rotateWebhookSecret', status: 200 },
  ]);
  expect(validators('getWebhook', 200)?.({ success: true, data: shown })).toBe(true);
  const page = { success: true, data: [shown], has_more: false, total_count: 1 };
  expect(validators('listWebhooks', 200)?.(page)).toBe(true);
  expect(validators('createWebhook', 201)?.({ success: true, data: shown })).toBe(false);
});

const hook = { url: 'https://books.example/hook', events: ['*'] };

test.each<[string, string, object, string | undefined]>([
  ['a webhook with all types', 'createWebhook', hook, undefined],
  ['a webhook without an address', 'createWebhook', { events: ['*'] }, 'missing_required_field url'],
  ['a webhook without events', 'createWebhook', { url: hook.url }, 'missing_required_field events'],
  ['a webhook with no event', 'createWebhook', { ...hook, events: [] }, 'invalid_field_value events'],
  [
    'a webhook with an unknown event',
    'createWebhook',
    { ...hook, events: ['a'] },
    'invalid_field_value events.0',
  ],
  ['a webhook over ftp', 'createWebhook', { ...hook, url: 'ftp://a.example' }, 'invalid_field_value url'],
  [
    'a webhook with 2,049 characters',
    'createWebhook',
    { ...hook, url: `https://a.example/${'x'.repeat(2031)}` },
    'invalid_field_value url',
  ],
  ['a change to http, which the operator may allow', 'updateWebhook', { url: 'http://10.0.0.1' }, undefined],
  ['a change to no address', 'updateWebhook', { url: null }, 'invalid_field_value url'],
  [
    'a week and a second of grace',
    'rotateWebhookSecret',
    { grace_period_seconds: 604801 },
    'invalid_field_value grace_period_seconds',
  ],
  ['a test of an unknown type', 'testWebhook', { event: '*' }, 'invalid_field_value event'],
  [
    'settings with an address of two lines',
    'updateNotificationSettings',
    { email_address: 'a@b.example\nBcc: c@d.example' },
    'invalid_field_value email_address',
  ],
  ['settings without an address', 'updateNotificationSettings', { email_address: null }, undefined],
  ['settings for no event', 'updateNotificationSettings', { enabled_events: [] }, undefined],
  [
    'settings for checkout.expired',
    'updateNotificationSettings',
    { enabled_events: ['payment.failed', 'checkout.expired'] },
    'invalid_field_value enabled_events.1',
  ],
  [
    'settings for everything',
    'updateNotificationSettings',
    { enabled_events: ['*'] },
    'invalid_field_value enabled_events.0',
  ],
])('%s', (_name, id, body, fault) => {
  expect(faultOf(id, structuredClone(body))).toBe(fault);
});

test('by default a test sends test.ping, and a rotation keeps the old secret for a day', () => {
  const ping: Record<string, unknown> = {};
  const rotation: Record<string, unknown> = {};

  expect([faultOf('testWebhook', ping), faultOf('rotateWebhookSecret', rotation)]).toEqual([
    undefined,
    undefined,
  ]);
  expect(ping).toEqual({ event: 'test.ping' });
  expect(rotation).toEqual({ grace_period_seconds: 86400 });
});

test.each([
  ['updateWebhook', 'secret'],
  ['updateWebhook', 'mode'],
  ['updateWebhook', 'failure_count'],
  ['updateNotificationSettings', 'messenger_chat_id'],
  ['updateNotificationSettings', 'updated_at'],
])('a read-only field is refused by %s: %s', (id, name) => {
  expect(faultOf(id, { [name]: null })).toBe(`invalid_field_value ${name}`);
});
