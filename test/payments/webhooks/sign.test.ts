import { createHmac, randomBytes } from 'node:crypto';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { webhookPayload } from '#payments/events/event-data.ts';
import { attemptHeaders, type SignedAttempt } from '#payments/webhooks/attempt.ts';

// The independent verifier refuses requests older than five minutes by the real clock.
const NOW = Date.now();
const CURRENT = `whsec_${randomBytes(32).toString('base64')}`;
const OLD = `whsec_${randomBytes(32).toString('base64')}`;

const TRICKY: readonly (readonly [name: string, body: string])[] = [
  ['nothing but a pair of braces', '{}'],
  ['numbers in unusual notations', '{"a":1e3,"b":1.0,"c":-0,"d":1000000000000000000001}'],
  ['unnecessary escapes', '{"a":"\\u0041\\/\\u00fc"}'],
  ['letters of many alphabets', '{"a":"ü 漢 🧾 \\ud800"}'],
  ['keys in an unusual order, with blanks', '{ "b" : 1,\n "2" : 2, "1" : 3 }'],
  ['a megabyte', JSON.stringify({ a: 'é'.repeat(500_000) })],
];

function signed(changes: Partial<SignedAttempt> = {}) {
  return attemptHeaders({
    webhookId: 'wh_1',
    deliveryId: 'del_1',
    attempt: 1,
    eventId: 'evt_1',
    eventType: 'payment.completed',
    isTest: false,
    attemptedAt: NOW,
    body: '{"a":1}',
    secrets: { current: CURRENT, previous: null },
    ...changes,
  });
}

const plain = (body: string, secret: string) =>
  createHmac('sha256', Buffer.from(secret, 'utf8')).update(Buffer.from(body, 'utf8')).digest('hex');

describe('the headers of an attempt', () => {
  test('name the webhook, the delivery, the event and the time of the attempt', () => {
    const attemptedAt = Date.UTC(2026, 10, 21, 10, 20, 30, 456);

    expect(signed({ attemptedAt })).toEqual({
      'Content-Type': 'application/json',
      'X-Service-Signature': plain('{"a":1}', CURRENT),
      'X-Service-Webhook-Id': 'wh_1',
      'X-Service-Delivery-Id': 'del_1',
      'X-Service-Event-Id': 'evt_1',
      'X-Service-Event': 'payment.completed',
      'X-Service-Timestamp': '2026-11-21T10:20:30.456Z',
      'webhook-id': 'evt_1',
      'webhook-timestamp': '1795256430',
      'webhook-signature': expect.stringMatching(/^v1,[\w+/]{43}=$/),
    });
  });

  test('number every attempt after the first, under the same event', () => {
    const ids = [1, 2, 3, 10].map(attempt => signed({ attempt })['X-Service-Delivery-Id']);

    expect(ids).toEqual(['del_1', 'del_1-2', 'del_1-3', 'del_1-10']);
    expect(signed({ attempt: 3 })).toMatchObject({ 'X-Service-Event-Id': 'evt_1', 'webhook-id': 'evt_1' });
  });

  test('mark a test, and nothing else', () => {
    expect(signed({ isTest: true, eventType: 'test.ping' })).toMatchObject({
      'X-Service-Test': 'true',
      'X-Service-Event': 'test.ping',
    });
    expect(signed()).not.toHaveProperty('X-Service-Test');
  });
});

describe.each(TRICKY)('a body of %s', (_, body) => {
  test('is verified by the Standard Webhooks library, and not when a byte differs', () => {
    const headers = signed({ body });

    expect(() => new Webhook(CURRENT).verify(Buffer.from(body), headers, { jsonParse: false })).not.toThrow();
    expect(() => new Webhook(CURRENT).verify(`${body} `, headers, { jsonParse: false })).toThrow(
      WebhookVerificationError,
    );
    expect(() => new Webhook(OLD).verify(body, headers, { jsonParse: false })).toThrow(
      WebhookVerificationError,
    );
  });

  test('is verified by an HMAC with the secret as shown', () => {
    const { 'X-Service-Signature': signature = '' } = signed({ body });

    expect(signature).toBe(plain(body, CURRENT));
    expect(signature).toMatch(/^[0-9a-f]{64}$/);
    expect(signature).not.toBe(plain(`${body}\n`, CURRENT));
  });
});

test.each(TRICKY.slice(1, 5).filter(([, body]) => JSON.stringify(JSON.parse(body)) !== body))(
  'a body serialized again before its verification fails: %s',
  (_, body) => {
    const again = JSON.stringify(JSON.parse(body));

    expect(() => new Webhook(CURRENT).verify(again, signed({ body }))).toThrow(WebhookVerificationError);
  },
);

describe('after a rotation', () => {
  const during = { current: CURRENT, previous: { secret: OLD, until: NOW + 1 } };
  const after = { current: CURRENT, previous: { secret: OLD, until: NOW } };

  test('a receiver with either secret can verify while the grace period lasts', () => {
    const headers = signed({ secrets: during });

    expect(headers['X-Service-Signature']).toBe(plain('{"a":1}', CURRENT));
    expect(headers['X-Service-Signature-Previous']).toBe(plain('{"a":1}', OLD));
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
    for (const secret of [CURRENT, OLD]) {
      expect(new Webhook(secret).verify('{"a":1}', headers)).toEqual({ a: 1 });
    }
  });

  test('nothing is signed with the old one once it is over', () => {
    const headers = signed({ secrets: after });

    expect(headers).toEqual(signed());
    expect(() => new Webhook(OLD).verify('{"a":1}', headers)).toThrow(WebhookVerificationError);
  });
});

test('a captured request is refused by the library once it is old', () => {
  const headers = signed({ attemptedAt: NOW - 6 * 60_000 });

  expect(() => new Webhook(CURRENT).verify('{"a":1}', headers)).toThrow('Message timestamp too old');
});

test('a secret of another kind is refused', () => {
  expect(() => signed({ secrets: { current: 'secret', previous: null } })).toThrow();
});

test('the body is the envelope with the event’s id, and a text column keeps it unchanged', () => {
  const data = { id: 'txn_test_1', message: 'ü \u2028 "1e3" \\u0041 \ud800' };

  const body = webhookPayload({ id: 'evt_1', type: 'test.ping', createdAt: 1_795_256_430_456, data }, 'wh_1');

  expect(body.startsWith('{"id":"evt_1","event":"test.ping","webhook_id":"wh_1","timestamp":')).toBe(true);
  expect(JSON.parse(body)).toEqual({
    id: 'evt_1',
    event: 'test.ping',
    webhook_id: 'wh_1',
    timestamp: '2026-11-21T10:20:30.456Z',
    data,
  });
  expect(Buffer.from(body, 'utf8').toString('utf8')).toBe(body);
});
