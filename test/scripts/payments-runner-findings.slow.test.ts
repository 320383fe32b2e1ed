import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Exchange,
  pacedSender,
  type RecordingClient,
  recordingClient,
} from '../../scripts/contract/client.ts';
import { bodyFaults } from '../../scripts/contract/payments/body-faults.ts';
import { faultsOf } from '../../scripts/contract/payments/judge.ts';
import { type Operation, operationsIn } from '../../scripts/contract/payments/operation.ts';
import { runPayments } from '../../scripts/contract/payments/run.ts';
import { paymentsContract } from '../../src/contract/contracts/payments.ts';
import { responseValidators } from '../../src/contract/mount/response-validators.ts';
import { startTestPayments, type TestPaymentsService } from '../lab/payments-service.ts';
import { sqliteDatabase, type TestDatabase } from '../support/databases.ts';

const LINKS = '/api/v1/payment-links';
const validators = responseValidators(paymentsContract.document);
const operations = new Map(operationsIn(paymentsContract).map(one => [one.id, one]));

let database: TestDatabase;
let service: TestPaymentsService;
let client: RecordingClient;
beforeAll(async () => {
  database = await sqliteDatabase('payments');
  service = await startTestPayments(database.options);
  client = recordingClient({ baseUrl: service.url });
});
afterAll(async () => {
  await client.close();
  await service.close();
  await database.remove();
});

function operation(id: string): Operation {
  const found = operations.get(id);
  if (found === undefined) throw new Error(`${id} is not in the contract`);
  return found;
}

const asked = (query: string, key = service.demoKey) =>
  client.send('GET', `${LINKS}${query}`, { authorization: `Bearer ${key}` });

const withHeaders = (exchange: Exchange, more: Exchange['headers']): Exchange => ({
  ...exchange,
  headers: { ...exchange.headers, ...more },
});

describe('the judge', () => {
  test('finds nothing in unchanged answers', async () => {
    const answers = [await asked(''), await asked('?limit=0'), await asked('', 'none')];

    expect(answers.map(({ status }) => status)).toEqual([200, 400, 401]);
    expect(answers.flatMap(answer => faultsOf(answer, operation('listPaymentLinks'), validators))).toEqual(
      [],
    );
  });

  test.each<[string, string, (exchange: Exchange) => Exchange, RegExp]>([
    ['an undeclared status', '', exchange => ({ ...exchange, status: 202 }), /undeclared status/],
    ['a failure', '?limit=0', exchange => ({ ...exchange, status: 500 }), /the service failed/],
    [
      'no request id',
      '',
      exchange => withHeaders(exchange, { 'x-request-id': undefined }),
      /no X-Request-Id/,
    ],
    ['no tag', '', exchange => withHeaders(exchange, { etag: undefined }), /no ETag/],
    [
      'an answer that shared caches may store',
      '',
      exchange => withHeaders(exchange, { 'cache-control': 'public' }),
      /Cache-Control is public/,
    ],
    [
      'a cacheable error',
      '?limit=0',
      exchange => withHeaders(exchange, { 'cache-control': 'private, no-cache' }),
      /not no-store/,
    ],
    [
      'no count',
      '',
      exchange =>
        withHeaders(exchange, {
          'x-ratelimit-limit': undefined,
          'x-ratelimit-remaining': undefined,
          'x-ratelimit-reset': undefined,
        }),
      /does not say how it was counted/,
    ],
    [
      'more requests left than the limit',
      '',
      exchange => withHeaders(exchange, { 'x-ratelimit-remaining': '99999999' }),
      /counts make no sense/,
    ],
    ['text that is no JSON', '', exchange => ({ ...exchange, text: '{' }), /not JSON/],
    [
      'another content type',
      '',
      exchange => withHeaders(exchange, { 'content-type': 'text/html' }),
      /is text\/html/,
    ],
    ['a body of another shape', '', exchange => ({ ...exchange, text: '{"object":"list"}' }), /is required/],
    ['a body with a 304', '', exchange => ({ ...exchange, status: 304 }), /has a body/],
    [
      'a code that belongs to another status',
      '?limit=0',
      exchange => ({ ...exchange, text: exchange.text.replace('invalid_field_value', 'duplicate_resource') }),
      /duplicate_resource is a 409/,
    ],
    [
      'a code that belongs to another type',
      '?limit=0',
      exchange => ({ ...exchange, text: exchange.text.replace('invalid_request_error', 'api_error') }),
      /invalid_field_value is invalid_request_error, not api_error/,
    ],
  ])('finds %s', async (_name, query, change, fault) => {
    const faults = faultsOf(change(await asked(query)), operation('listPaymentLinks'), validators);

    expect(faults).toContainEqual(expect.stringMatching(fault));
  });
});

test('a run finds faults in an error, in the count of a list and in its URL', async () => {
  const changes: readonly ((answer: string) => string)[] = [
    answer => (answer.includes('"param":"name"') ? answer.replace('name"}', 'x"}') : answer),
    answer => answer.replace('"has_more":false', '"has_more":true'),
    answer => answer.replace('"url":"/api/v1/events', '"url":"/api/v1/other'),
  ];
  const between: RecordingClient = {
    ...client,
    async send(...request) {
      const exchange = await client.send(...request);
      return { ...exchange, text: changes.reduce((answer, change) => change(answer), exchange.text) };
    },
  };

  const { findings } = await runPayments(between, service.demoKey ?? '');

  for (const finding of [
    /createPaymentLink: POST .*400 invalid_field_value x, not 400 invalid_field_value name/,
    /has_more is true/,
    /listEvents.*url is/,
  ]) {
    expect(findings).toContainEqual(expect.stringMatching(finding));
  }
});

test('a rate-limited client waits as long as Retry-After says and retries, but not forever', async () => {
  const waited: number[] = [];
  const refused = { ...(await asked('')), status: 429, headers: { 'retry-after': '7' } };
  const send = pacedSender(
    { ...client, send: async () => refused },
    { sleep: async ms => void waited.push(ms) },
  );

  const exchanges = await send('GET', LINKS);

  expect(new Set(waited)).toEqual(new Set([7_000]));
  expect(exchanges).toHaveLength(waited.length + 1);
  expect(waited.length).toBeLessThan(50);
});

test('a body is broken in every field of its schema, one fault at a time', () => {
  const { body = {} } = operation('createPaymentLink');
  const places = bodyFaults(paymentsContract.document, body, new Set()).map(
    ({ code, place }) => `${code} ${place}`,
  );

  expect(places).toEqual(
    expect.arrayContaining([
      'missing_required_field name',
      'invalid_field_value name',
      'invalid_address token_address',
      'invalid_field_value chain_id',
      'invalid_field_value expires_at',
      'missing_required_field items.0.amount',
      'invalid_field_value items.0.quantity',
      'invalid_field_value form_schema.fields.0.type',
      'invalid_field_value metadata.key',
      'invalid_field_value metadata',
    ]),
  );
});
