import { expect, test } from 'vitest';
import { auditTypeOf, changedModes, resourceIdOf } from '../../../src/payments/audit/audit-event.ts';

test.each([
  ['post', '/api/v1/payment-links', 'payment_link.create'],
  ['patch', '/api/v1/payment-links/{payment_link_id}', 'payment_link.update'],
  ['delete', '/api/v1/webhooks/{webhook_id}', 'webhook.delete'],
  ['post', '/api/v1/checkout-sessions/{checkout_session_id}/accept', 'checkout_session.accept'],
  ['post', '/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/retry', 'webhook.retry'],
  ['post', '/api/v1/set-aside-transactions/retry', 'set_aside_transaction.retry'],
  ['post', '/api/v1/deposit-addresses/{address}/sweep', 'deposit_address.sweep'],
  ['patch', '/api/v1/organization', 'organization.update'],
  ['post', '/api/v1/test/sessions/{checkout_session_id}/simulate', 'session.simulate'],
  ['post', '/dashboard/session', 'session.create'],
])('%s %s is %s', (method, path, type) => {
  expect(auditTypeOf({ method, path })).toBe(type);
});

test('the record is the one that the path names last, else that of the body', () => {
  const path = '/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/retry';

  expect(resourceIdOf(path, '/api/v1/webhooks/wh_1/deliveries/del_2/retry', {})).toBe('del_2');
  expect(resourceIdOf(path, '/api/v1/webhooks/wh_1/deliveries/del%5F2/retry', {})).toBe('del_2');
  expect(resourceIdOf('/api/v1/payment-links', '/api/v1/payment-links', { id: 'pl_1' })).toBe('pl_1');
  expect(resourceIdOf('/api/v1/webhooks', '/api/v1/webhooks', { data: { id: 'wh_1' } })).toBe('wh_1');
  expect(resourceIdOf('/dashboard/members', '/dashboard/members', { member: { id: 'mem_1' } })).toBe('mem_1');
  expect(resourceIdOf('/api/v1/organization', '/api/v1/organization', { object: 'x' })).toBeNull();
});

test('a change of members or passkeys concerns both modes, and a new key its own', () => {
  const both = ['live', 'test'];

  expect(changedModes('/dashboard/members/{member_id}', {})).toEqual(both);
  expect(changedModes('/dashboard/passkeys', {})).toEqual(both);
  expect(changedModes('/api/v1/api-keys', { mode: 'test' })).toEqual(['test']);
  expect(changedModes('/api/v1/api-keys/{api_key_id}', {})).toBeUndefined();
  expect(changedModes('/api/v1/payment-links', { mode: 'test' })).toBeUndefined();
});
