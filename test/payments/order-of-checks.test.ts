import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { record, text } from '../lab/json.ts';
import { startTestPayments, type TestPaymentsService } from '../lab/payments-service.ts';
import { PATIENCE_MS } from '../lab/until.ts';
import { sqliteDatabase, type TestDatabase } from '../support/databases.ts';
import { openOwners, type TestOwners } from '../support/payments-owners.ts';

const LINKS = '/api/v1/payment-links';
const SESSIONS = '/api/v1/checkout-sessions';

let database: TestDatabase;
let service: TestPaymentsService;
let owners: TestOwners;
let keys: Readonly<Record<'admin' | 'reader' | 'exhausted', string>>;
/** A link that has a session. */
let link: string;
beforeAll(async () => {
  database = await sqliteDatabase('payments');
  service = await startTestPayments(database.options, {
    rateLimitPerMinute: { standard: 1, elevated: 10_000 },
  });
  owners = openOwners(database.options, systemClock);
  keys = {
    admin: await owners.key({}),
    reader: await owners.key({ permission: 'read' }),
    exhausted: await owners.key({ permission: 'read', tier: 'standard' }),
  };
  await send('GET', LINKS, { key: keys.exhausted });
  const headers = { 'Idempotency-Key': 'used' };
  const made = await send('POST', LINKS, { key: keys.admin, body: '{"name":"A","amount":"7"}', headers });
  link = text(made.body.id);
  await send('POST', SESSIONS, { key: keys.admin, body: JSON.stringify({ payment_link_id: link }) });
});
afterAll(async () => {
  await owners.close();
  await service.close();
  await database.remove();
});

interface Sent {
  readonly key?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function send(method: string, path: string, { key, body, headers = {} }: Sent) {
  const answer = await fetch(service.url + path, {
    method,
    headers: {
      ...(key === undefined ? {} : { 'X-API-Key': key }),
      'Content-Type': 'application/json',
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  return { status: answer.status, body: record(await answer.json()) };
}

/** A change of a missing link, with a body that is not JSON. */
const patchOf = (key: string, idempotencyKey: string): [string, string, Sent] => [
  'PATCH',
  `${LINKS}/pl_nothing`,
  { key, body: '{', headers: { 'Idempotency-Key': idempotencyKey } },
];

/** Each request also has the faults of all later checks. The checks have a fixed order (Decision 100). */
const STEPS: readonly (readonly [step: string, outcome: string, request: () => [string, string, Sent]])[] = [
  ['path', '404 resource_not_found', () => ['PATCH', '/api/v1/nothing', { body: '{' }]],
  ['method', '404 resource_not_found', () => ['PUT', `${LINKS}/pl_nothing`, { body: '{' }]],
  [
    'key',
    '401 key_missing',
    () => ['PATCH', `${LINKS}/pl_nothing`, { body: '{', headers: { 'Idempotency-Key': 'two words' } }],
  ],
  ['rate limit', '429 rate_limit_exceeded', () => patchOf(keys.exhausted, 'two words')],
  ['permission', '403 insufficient_permissions', () => patchOf(keys.reader, 'two words')],
  [
    'form of the idempotency key',
    '400 invalid_field_value Idempotency-Key',
    () => patchOf(keys.admin, 'two words'),
  ],
  [
    'use of the idempotency key',
    '409 idempotency_conflict Idempotency-Key',
    () => patchOf(keys.admin, 'used'),
  ],
  [
    'missing field',
    '400 missing_required_field session_id',
    () => ['POST', '/api/v1/unmatched-transfers/utr_nothing/assign', { key: keys.admin, body: '{}' }],
  ],
  [
    'missing field before an invalid one',
    '400 missing_required_field permission',
    () => ['POST', '/api/v1/api-keys', { key: keys.admin, body: '{"name":7}' }],
  ],
  [
    'form of the body',
    '400 invalid_field_value chain_id',
    () => ['PATCH', `${LINKS}/pl_nothing`, { key: keys.admin, body: '{"chain_id":"x"}' }],
  ],
  [
    'form of a parameter',
    '400 invalid_field_value limit',
    () => ['GET', `${LINKS}/pl_nothing/sessions?limit=101`, { key: keys.admin }],
  ],
  [
    'existence of the record',
    '404 resource_not_found',
    () => ['PATCH', `${LINKS}/pl_nothing`, { key: keys.admin, body: '{"chain_id":7}' }],
  ],
  [
    'state of the record',
    '400 invalid_status_transition',
    () => [
      'PATCH',
      `${LINKS}/${link}`,
      { key: keys.admin, body: `{"recipient_address":"0x${'ab'.repeat(20)}"}` },
    ],
  ],
];

test.each(STEPS)('%s: %s comes before all later checks', async (_step, outcome, request) => {
  const { status, body } = await send(...request());

  const { code, param } = record(body.error);
  const told = [status, code, ...(param === undefined ? [] : [param])].join(' ');
  // An error about the state also names the field, which does not matter here.
  expect(told.slice(0, outcome.length)).toBe(outcome);
});

test('a stored idempotent answer comes before later errors', async () => {
  const headers = { 'Idempotency-Key': 'remembered' };
  const key = keys.admin;
  const made = await send('POST', LINKS, { key, body: '{"name":"B","amount":"8"}' });
  const path = `${LINKS}/${text(made.body.id)}`;
  const first = await send('PATCH', path, { key, body: '{"name":"C"}', headers });
  await send('DELETE', path, { key });

  const again = await send('PATCH', path, { key, body: '{"name":"C"}', headers });

  expect(again).toEqual(first);
  expect(first).toMatchObject({ status: 200, body: { name: 'C' } });
});
