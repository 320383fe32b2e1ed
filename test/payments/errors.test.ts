import { afterAll, beforeAll, expect, test } from 'vitest';
import { paymentsContract } from '../../src/contract/contracts/payments.ts';
import { PAYMENTS_ERRORS, type PaymentsErrorCode } from '../../src/contract/contracts/payments-errors.ts';
import { describeErrors } from '../../src/contract/contracts/violations.ts';
import { responseValidators } from '../../src/contract/mount/response-validators.ts';
import { openDatabase } from '../../src/db/open.ts';
import { newKey } from '../../src/payments/keys/api-key.ts';
import { record, text } from '../lab/json.ts';
import { startTestPayments, type TestPaymentsService } from '../lab/payments-service.ts';
import { PATIENCE_MS } from '../lab/until.ts';
import { sqliteDatabase, type TestDatabase } from '../support/databases.ts';
import { manualClock } from '../support/manual-clock.ts';
import { openOwners, type TestOwners } from '../support/payments-owners.ts';

const LINKS = '/api/v1/payment-links';
const SESSIONS = '/api/v1/checkout-sessions';
const PER_MINUTE = 3;
const DAY_MS = 86_400_000;

const clock = manualClock();
let database: TestDatabase;
let service: TestPaymentsService;
let owners: TestOwners;
let admin: string;
beforeAll(async () => {
  database = await sqliteDatabase('payments');
  service = await startTestPayments(database.options, {
    clock,
    rateLimitPerMinute: { standard: PER_MINUTE, elevated: 10_000 },
  });
  owners = openOwners(database.options, clock);
  admin = await owners.key({});
});
afterAll(async () => {
  await owners.close();
  await service.close();
  await database.remove();
});

interface Sent {
  readonly key?: string | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

async function send(method: string, path: string, { key = admin, body, headers = {} }: Sent = {}) {
  const answer = await fetch(service.url + path, {
    method,
    headers: {
      ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  return { status: answer.status, headers: answer.headers, body: record(await answer.json()) };
}

type Answered = Awaited<ReturnType<typeof send>>;

const newLink = (more: object = {}, headers = {}) =>
  send('POST', LINKS, { body: { name: 'Field notebooks', amount: '7', ...more }, headers });

/** A request that leads to each code. */
const WAYS: Readonly<Record<Exclude<PaymentsErrorCode, 'internal_error'>, () => Promise<Answered>>> = {
  missing_required_field: () => send('POST', LINKS, { body: { amount: '7' } }),
  invalid_field_value: () => newLink({ amount: 7 }),
  invalid_address: () => newLink({ recipient_address: '0x12' }),
  async no_updates_provided() {
    const { body } = await newLink();
    return send('PATCH', `${LINKS}/${text(body.id)}`, { body: { undeclared: 1 } });
  },
  async invalid_status_transition() {
    const { body } = await send('POST', SESSIONS, { body: { payment_link_id: (await newLink()).body.id } });
    const path = `${SESSIONS}/${text(body.id)}/expire`;
    await send('POST', path);
    return send('POST', path);
  },
  async duplicate_resource() {
    await newLink({ short_code: 'once-only' });
    return newLink({ short_code: 'once-only' });
  },
  async precondition_failed() {
    const { body } = await newLink();
    const headers = { 'If-Match': '"of another version"' };
    return send('PATCH', `${LINKS}/${text(body.id)}`, { body: { name: 'Notebooks' }, headers });
  },
  key_missing: () => send('GET', LINKS, { key: null }),
  key_invalid: () => send('GET', LINKS, { key: newKey('test') }),
  async key_expired() {
    const key = await owners.key({ expiresAt: clock.now() + DAY_MS });
    clock.advance(DAY_MS);
    return send('GET', LINKS, { key });
  },
  async key_revoked() {
    const made = await send('POST', '/api/v1/api-keys', { body: { name: 'Shop', permission: 'read' } });
    await send('DELETE', `/api/v1/api-keys/${text(made.body.id)}`);
    return send('GET', LINKS, { key: text(made.body.key) });
  },
  insufficient_permissions: async () =>
    send('POST', LINKS, { key: await owners.key({ permission: 'read' }), body: {} }),
  resource_not_found: () => send('GET', `${LINKS}/pl_nothing`),
  async rate_limit_exceeded() {
    const key = await owners.key({ tier: 'standard' });
    for (let sent = 0; sent < PER_MINUTE; sent++) await send('GET', LINKS, { key });
    return send('GET', LINKS, { key });
  },
  async idempotency_conflict() {
    await newLink({}, { 'Idempotency-Key': 'order-1042' });
    return newLink({ name: 'Another' }, { 'Idempotency-Key': 'order-1042' });
  },
};

/** Further rules of the document: the field that is named, and text that the message contains. */
const SAYING: Partial<Record<PaymentsErrorCode, { param?: string; message?: RegExp }>> = {
  missing_required_field: { param: 'name', message: /'name' field is required/ },
  invalid_field_value: { param: 'amount' },
  invalid_address: { param: 'recipient_address' },
  duplicate_resource: { param: 'short_code' },
  precondition_failed: { param: 'If-Match' },
  insufficient_permissions: { message: /'write' permission/ },
  resource_not_found: { message: /^No payment_link with id 'pl_nothing'\.$/ },
  idempotency_conflict: { param: 'Idempotency-Key' },
  rate_limit_exceeded: { message: /Retry after \d+ seconds?/ },
};

const validators = responseValidators(paymentsContract.document);

/** The table of codes, each with its type and status. Source: document 3, "Errors"; 412 is Decision 360. */
const ROWS = [
  [400, 'missing_required_field', 'invalid_request_error'],
  [400, 'invalid_field_value', 'invalid_request_error'],
  [400, 'invalid_address', 'invalid_request_error'],
  [400, 'no_updates_provided', 'invalid_request_error'],
  [400, 'invalid_status_transition', 'invalid_request_error'],
  [409, 'duplicate_resource', 'invalid_request_error'],
  [412, 'precondition_failed', 'invalid_request_error'],
  [401, 'key_missing', 'authentication_error'],
  [401, 'key_invalid', 'authentication_error'],
  [401, 'key_expired', 'authentication_error'],
  [401, 'key_revoked', 'authentication_error'],
  [403, 'insufficient_permissions', 'permission_error'],
  [404, 'resource_not_found', 'not_found_error'],
  [429, 'rate_limit_exceeded', 'rate_limit_error'],
  [409, 'idempotency_conflict', 'idempotency_error'],
] as const;

test.each(ROWS)('%i %s has the type %s', async (status, code, type) => {
  const answer = await WAYS[code]();

  const error = record(answer.body.error);
  const { param, message = /\.$/ } = SAYING[code] ?? {};
  expect([answer.status, error.type, error.code, error.param]).toEqual([status, type, code, param]);
  expect(error.message).toMatch(message);
  const validate = validators('updatePaymentLink', status);
  expect(validate?.(answer.body), describeErrors(validate?.errors)).toBe(true);
  expect(answer.headers.get('Cache-Control')).toBe('no-store');
  expect(answer.headers.get('X-Request-Id')).toMatch(/./);
  expect(Number(answer.headers.get('Retry-After')) > 0).toBe(status === 429);
});

test('500 internal_error is an api_error without a cause', async () => {
  const own = await sqliteDatabase('payments');
  const broken = await startTestPayments(own.options);
  const key = broken.demoKey ?? '';
  const db = openDatabase(own.options);
  await db.schema.renameTable('payment_links', 'payment_links_gone');
  await db.destroy();

  const answer = await fetch(broken.url + LINKS, { headers: { 'X-API-Key': key } });
  const body: unknown = await answer.json();
  await broken.close();
  await own.remove();

  expect(answer.status).toBe(500);
  expect(body).toEqual({
    error: {
      type: 'api_error',
      code: 'internal_error',
      message: expect.not.stringMatching(/payment_links|SQL/i),
    },
  });
});

test('these tests cover every code of the catalogue with its type and status', () => {
  const rows = [...ROWS, [500, 'internal_error', 'api_error'] as const];

  expect(Object.fromEntries(rows.map(([status, code, type]) => [code, { type, status }]))).toEqual(
    PAYMENTS_ERRORS,
  );
});
