import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { explorerContract } from '../../src/contract/contracts/explorer.ts';
import { insightsContract } from '../../src/contract/contracts/insights.ts';
import { paymentsContract } from '../../src/contract/contracts/payments.ts';
import { describeErrors } from '../../src/contract/contracts/violations.ts';
import { responseValidators } from '../../src/contract/mount/response-validators.ts';
import { startTestDataService, type TestDataService } from '../lab/data-service.ts';
import { startTestDevnet, type TestDevnet } from '../lab/devnet.ts';
import { startTestPayments, type TestPaymentsService } from '../lab/payments-service.ts';
import { sqliteDatabase, type TestDatabase } from '../support/databases.ts';
import { rawRequest } from '../support/raw-request.ts';

let devnet: TestDevnet;
let database: TestDatabase;
let data: TestDataService;
let payments: TestPaymentsService;

beforeAll(async () => {
  devnet = await startTestDevnet({ chains: 2 });
  data = await startTestDataService(devnet.chains);
  database = await sqliteDatabase();
  payments = await startTestPayments(database.options);
});
afterAll(async () => {
  await payments.close();
  await database.remove();
  await data.close();
  await devnet.stop();
});

const message = expect.any(String);
/** Status of a plain GET, and the form of its errors. */
const FAMILIES = [
  {
    contract: explorerContract,
    operation: 'listBlocks',
    url: () => data.url,
    path: '/explorer/blocks',
    status: 200,
    error: { message },
  },
  {
    contract: insightsContract,
    operation: 'queryBlocks',
    url: () => data.url,
    path: '/insights/v1/blocks',
    status: 200,
    error: { error: message },
  },
  {
    contract: paymentsContract,
    operation: 'listPaymentLinks',
    url: () => payments.url,
    path: '/api/v1/payment-links',
    status: 401,
    error: { error: { type: 'invalid_request_error', code: 'invalid_field_value', message } },
  },
];

describe.each(FAMILIES)('$path', ({ contract, operation, url, path, status, error }) => {
  const validators = responseValidators(contract.document);

  /** Sends a request head and checks the answer against the contract. */
  async function send(target: string, headers = '') {
    const answer = await rawRequest(
      url(),
      `GET ${target} HTTP/1.1\r\nHost: wrong.example\r\n${headers}Connection: close\r\n\r\n`,
    );
    const body: unknown = JSON.parse(answer.body);
    const validate = validators(operation, answer.status);
    expect(validate, `${answer.status} of ${operation}`).toBeTypeOf('function');
    expect(validate?.(body), describeErrors(validate?.errors)).toBe(true);
    return { status: answer.status, body };
  }

  test('is served to a target in absolute form', async () => {
    expect((await send(`http://right.example${path}?utm_source=x`)).status).toBe(status);
  });

  test.each([
    ['a target of another scheme', 400, `ftp://right.example${path}`, ''],
    ['a target with a user', 400, `http://a:b@right.example${path}`, ''],
    ['an expectation that cannot be met', 417, path, 'Expect: nonsense\r\n'],
    ['a head of 20 kB', 431, path, `X-Long: ${'a'.repeat(20_000)}\r\n`],
    ['a head of 60 kB', 431, path, `X-Long: ${'a'.repeat(60_000)}\r\n`],
    ['a target of 60 kB', 431, `${path}?a=${'a'.repeat(60_000)}`, ''],
    ['a target of 60 kB in absolute form', 431, `http://right.example${path}?a=${'a'.repeat(60_000)}`, ''],
  ])('refuses %s with a %i in the form of its family', async (_name, refusal, target, headers) => {
    expect(await send(target, headers)).toEqual({ status: refusal, body: error });
  });
});

test('an Expect header at a path outside every contract is refused in the form of its family, too', async () => {
  for (const [url, path, error] of [
    [data.url, '/insights/v1/nothing', { error: message }],
    [data.url, '/nothing', { message }],
    [payments.url, '/api/v1/nothing', { error: expect.objectContaining({ message }) }],
  ] as const) {
    const { status, body } = await rawRequest(
      url,
      `GET ${path} HTTP/1.1\r\nHost: a\r\nExpect: x\r\nConnection: close\r\n\r\n`,
    );
    expect([path, status, JSON.parse(body)]).toEqual([path, 417, error]);
  }
});
