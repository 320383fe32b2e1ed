import type { ValidateFunction } from 'ajv';
import { describe, expect, test } from 'vitest';
import { child, type Json, operationsOf, resolve } from '../../src/contract/contracts/document.ts';
import type { OperationRow } from '../../src/contract/contracts/operations.ts';
import { paymentsContract } from '../../src/contract/contracts/payments.ts';
import {
  PAYMENTS_ERRORS,
  paymentsError,
  paymentsErrorBody,
} from '../../src/contract/contracts/payments-errors.ts';
import { bodyViolation } from '../../src/contract/contracts/violations.ts';
import { responseValidators } from '../../src/contract/mount/response-validators.ts';

const { document, table } = paymentsContract;
const rows = Object.values<OperationRow>(table);
const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

function validatorOf(id: string): ValidateFunction {
  const validate = paymentsContract.bodies?.[id];
  if (validate === undefined) throw new Error(`${id} takes no body`);
  return validate;
}

/** Code and position of a body's first fault; undefined for a valid body. */
function faultOf(id: string, body: unknown): string | undefined {
  const validate = validatorOf(id);
  if (validate(body)) return undefined;
  const { code, param } = bodyViolation(validate.errors);
  return `${code} ${param}`;
}

test('only the payer’s operations need no key, and every other one has one permission for both schemes', () => {
  for (const { path, security } of rows) {
    if (path.startsWith('/api/v1/pay/')) expect(security).toEqual([]);
    else {
      const [role = ''] = security[0]?.bearer ?? [];
      expect(['read', 'write', 'admin']).toContain(role);
      expect(security).toEqual([{ bearer: [role] }, { apiKey: [role] }]);
    }
  }
});

test('reads need read, changes need write, and keys, the seed, the audit log and changes of organization, recipients, webhooks, notifications and customers need admin', () => {
  const needed = rows.flatMap(({ path, method, security }) => {
    const role = security[0]?.bearer?.[0];
    if (role === undefined) return [];
    const isOwners =
      /^\/api\/v1\/(organization|recipients|webhooks|notifications|customers)(\/|$)/.test(path) &&
      method !== 'get';
    const isAdmins =
      isOwners ||
      /^\/api\/v1\/(api-keys|audit-events)(\/|$)/.test(path) ||
      path === '/api/v1/deposit-addresses/seed';
    const expected = isAdmins ? 'admin' : method === 'get' ? 'read' : 'write';
    return role === expected ? [] : [`${method} ${path} needs ${role}`];
  });

  expect(needed).toEqual([]);
});

test('exactly the POST and PATCH operations with a key accept an idempotency key', () => {
  const wrong = rows.filter(
    ({ method, security, replayable = false }) =>
      replayable !== (security.length > 0 && ['post', 'patch'].includes(method)),
  );

  expect(wrong.map(({ id }) => id)).toEqual([]);
});

test('every example of a body is valid', () => {
  const examples = operationsOf(document).flatMap(({ operation }): [string, Json][] => {
    const media = child(child(resolve(document, operation.requestBody), 'content'), 'application/json');
    return media.example === undefined ? [] : [[String(operation.operationId), media.example]];
  });

  expect(examples.map(([id]) => id)).toEqual(rows.filter(({ body }) => body === true).map(({ id }) => id));
  for (const [id, example] of examples) expect(faultOf(id, structuredClone(example))).toBeUndefined();
});

test('the outgoing events are described', () => {
  const hooks = child(document, 'webhooks');

  expect(Object.keys(hooks)).toEqual([
    'payment.completed',
    'payment.failed',
    'checkout.completed',
    'checkout.expired',
    'refund.created',
    'refund.completed',
    'refund.failed',
    'transfer.unmatched',
    'checkout.paid_late',
    'checkout.overpaid',
    'checkout.partially_paid',
    'sweep.completed',
    'test.ping',
  ]);
});

describe('bodies', () => {
  const link = { name: 'A', token_address: ADDRESS, chain_id: 31337, recipient_address: ADDRESS };

  test.each<[string, object, string | undefined]>([
    ['the name alone', { name: 'A' }, undefined],
    ['every field of the document', { ...link, amount: '1' }, undefined],
    ['no name', {}, 'missing_required_field name'],
    ['a blank name', { name: '   ' }, 'invalid_field_value name'],
    ['a name of two lines', { name: 'a\nb' }, 'invalid_field_value name'],
    ['a name of 101 characters', { name: 'x'.repeat(101) }, 'invalid_field_value name'],
    ['a name of 100 signs beyond the basic plane', { name: '😀'.repeat(100) }, undefined],
    ['chain_id as a text', { ...link, chain_id: '31337' }, 'invalid_field_value chain_id'],
    ['an amount of 0', { ...link, amount: '0' }, 'invalid_field_value amount'],
    ['an amount with a leading zero', { ...link, amount: '01' }, 'invalid_field_value amount'],
    ['an amount as a number', { ...link, amount: 1 }, 'invalid_field_value amount'],
    ['an explicit null as the amount', { ...link, amount: null }, undefined],
    ['a short address', { ...link, recipient_address: '0x12' }, 'invalid_address recipient_address'],
    ['an address without 0x', { ...link, token_address: ADDRESS.slice(2) }, 'invalid_address token_address'],
    ['an item without a price', { ...link, items: [{ name: 'a' }] }, 'missing_required_field items.0.amount'],
    [
      'a form without fields',
      { ...link, form_schema: { fields: [] } },
      'invalid_field_value form_schema.fields',
    ],
    [
      'an unknown kind of field',
      { ...link, form_schema: { fields: [{ id: 'a', type: 'file', label: 'b' }] } },
      'invalid_field_value form_schema.fields.0.type',
    ],
    ...['email', 'shipping_address'].map((id): [string, object, string] => [
      `a field called ${id}`,
      { ...link, form_schema: { fields: [{ id, type: 'text', label: 'b' }] } },
      'invalid_field_value form_schema.fields.0.id',
    ]),
    ['51 keys of metadata', { ...link, metadata: many(51) }, 'invalid_field_value metadata'],
    ['50 keys of metadata', { ...link, metadata: many(50) }, undefined],
    ['a key of metadata with a blank', { ...link, metadata: { 'a b': '' } }, 'invalid_field_value metadata'],
    ['metadata that is not a string', { ...link, metadata: { a: 1 } }, 'invalid_field_value metadata.a'],
    ['a short code with a slash', { ...link, short_code: 'a/bc' }, 'invalid_field_value short_code'],
    ['an end that is not a date', { ...link, expires_at: 'tomorrow' }, 'invalid_field_value expires_at'],
    ['a 30th of February', { ...link, expires_at: '2027-02-30T00:00:00Z' }, 'invalid_field_value expires_at'],
    ['a leap second', { ...link, expires_at: '2016-12-31T23:59:60Z' }, 'invalid_field_value expires_at'],
    ['http', { ...link, return_url: 'http://a.example' }, 'invalid_field_value return_url'],
  ])('a link with %s', (_name, body, fault) => {
    expect(faultOf('createPaymentLink', structuredClone(body))).toBe(fault);
  });

  test('a new session expires after half an hour by default, and changing a link has no defaults', () => {
    const session: Record<string, unknown> = {};
    const change: Record<string, unknown> = { name: 'A' };

    expect(faultOf('createCheckoutSession', session)).toBeUndefined();
    expect(faultOf('updatePaymentLink', change)).toBeUndefined();
    expect(session).toEqual({ expires_in: 1800 });
    expect(change).toEqual({ name: 'A' });
  });

  test.each([
    ['id', { id: 'pl_x' }],
    ['current_uses', { current_uses: 0 }],
    ['mode', { mode: 'live' }],
    ['organization_id', { organization_id: 'org_x' }],
    ['branding.x', { branding: { x: 1 } }],
  ])('a field of a link that merchants cannot set is refused: %s', (place, more) => {
    expect(faultOf('createPaymentLink', { name: 'A', ...more })).toBe(`invalid_field_value ${place}`);
  });

  function many(count: number): Record<string, string> {
    return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));
  }
});

describe('errors', () => {
  test('the catalogue has every code of the contract, and only bodies that the contract allows', async () => {
    const validators = responseValidators(paymentsContract.document);
    const { enum: codes } = child(child(child(document, 'components'), 'schemas'), 'ErrorCode');

    expect(Object.keys(PAYMENTS_ERRORS)).toEqual(codes);
    for (const [code, { status, type }] of Object.entries(PAYMENTS_ERRORS)) {
      const { message, param } = paymentsError('internal_error', 'It failed.', { param: 'name' });
      const body = paymentsErrorBody(status, message, { path: '/', requestId: '1', code, param });
      expect(body).toEqual({ error: { type, code, message: 'It failed.', param: 'name' } });
      expect(validators('updatePaymentLink', status)?.(body)).toBe(true);
    }
  });

  test.each([
    [400, 'invalid_request_error', 'invalid_field_value'],
    [404, 'not_found_error', 'resource_not_found'],
    [408, 'invalid_request_error', 'invalid_field_value'],
    [417, 'invalid_request_error', 'invalid_field_value'],
    [429, 'rate_limit_error', 'rate_limit_exceeded'],
    [431, 'invalid_request_error', 'invalid_field_value'],
    [500, 'api_error', 'internal_error'],
    [503, 'api_error', 'internal_error'],
  ])('a %i from HTTP itself is %s, %s, without a param', (status, type, code) => {
    const body = paymentsErrorBody(status, 'No.', { path: '/', requestId: '1' });

    expect(body).toEqual({ error: { type, code, message: 'No.' } });
  });

  test('an answer with a field outside the contract is detected', async () => {
    const validators = responseValidators(paymentsContract.document);
    const list = { object: 'list', data: [], has_more: false, total_count: 0, url: '/api/v1/payment-links' };

    expect(validators('listPaymentLinks', 200)?.(list)).toBe(true);
    expect(validators('listPaymentLinks', 200)?.({ ...list, next: null })).toBe(false);
  });
});
