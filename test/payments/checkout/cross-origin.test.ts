import { afterAll, beforeAll, expect, test } from 'vitest';
import { child, type JsonObject, operationsOf, resolve } from '#contract/contracts/document.ts';
import { explorerContract } from '#contract/contracts/explorer.ts';
import { insightsContract } from '#contract/contracts/insights.ts';
import { paymentsContract } from '#contract/contracts/payments.ts';
import { startTestDataService } from '../../lab/data-service.ts';
import { record, text } from '../../lab/json.ts';
import { startTestPayments, type TestPaymentsService } from '../../lab/payments-service.ts';
import { sqliteDatabase, type TestDatabase } from '../../support/databases.ts';

/** Headers that every page can read, and one for caches. Source: Fetch, "CORS-safelisted response-header name". */
const ALWAYS_READABLE = ['Cache-Control', 'Vary'];
const SHOP = 'https://shop.example';

let database: TestDatabase;
let service: TestPaymentsService;
beforeAll(async () => {
  database = await sqliteDatabase('payments');
  service = await startTestPayments(database.options);
});
afterAll(async () => {
  await service.close();
  await database.remove();
});

function preflight(path: string, method: string): Promise<Response> {
  return fetch(service.url + path, {
    method: 'OPTIONS',
    headers: {
      Origin: SHOP,
      'Access-Control-Request-Method': method,
      'Access-Control-Request-Headers': 'content-type',
    },
  });
}

test('a merchant’s own front end can use every payer operation', async () => {
  const operations = Object.values<{ path: string; method: string; security: readonly object[] }>(
    paymentsContract.table,
  );
  const payers = operations.filter(({ security }) => security.length === 0);

  const answers = await Promise.all(
    payers.map(({ path, method }) => preflight(path.replaceAll(/[{}]/g, ''), method.toUpperCase())),
  );

  expect(payers.length).toBeGreaterThan(4);
  for (const [index, { status, headers }] of answers.entries()) {
    expect([payers[index]?.path, status]).toEqual([payers[index]?.path, 204]);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-allow-methods')).toContain(payers[index]?.method.toUpperCase());
    expect(headers.get('access-control-allow-headers')).toBe('content-type');
  }
});

test('a page of another origin cannot POST where a key is needed', async () => {
  const { status, headers } = await preflight('/api/v1/payment-links', 'POST');

  expect([status, headers.get('access-control-allow-origin')]).toEqual([404, null]);
});

test('the answer to a payer’s POST is readable from another origin, errors included', async () => {
  const created = await fetch(`${service.url}/api/v1/payment-links`, {
    method: 'POST',
    headers: { 'X-API-Key': text(service.demoKey), 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'Field notebooks', amount: '7' }),
  });
  const code = text(record(await created.json()).short_code);
  const start = (at: string) =>
    fetch(`${service.url}/api/v1/pay/links/${at}/sessions`, {
      method: 'POST',
      headers: { Origin: SHOP, 'Content-Type': 'application/json' },
      body: '{}',
    });

  const [started, refused] = [await start(code), await start('nowhere')];

  expect([started.status, refused.status]).toEqual([201, 404]);
  for (const { headers } of [started, refused]) {
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-expose-headers')).toContain('X-Request-Id');
  }
});

test('each service exposes the response headers its contract declares', async () => {
  await using data = await startTestDataService([]);
  const exposed = async (url: string) => {
    const { headers } = await fetch(`${url}/healthz`);
    return text(headers.get('access-control-expose-headers')).split(', ');
  };

  expect(await exposed(service.url)).toEqual(expect.arrayContaining(headersOf(paymentsContract)));
  expect(await exposed(data.url)).toEqual(
    expect.arrayContaining([...headersOf(explorerContract), ...headersOf(insightsContract)]),
  );
  expect(await exposed(service.url)).not.toContain('X-Cache');
  expect(await exposed(data.url)).not.toContain('X-RateLimit-Limit');
});

/** Names of the response headers that a contract declares. */
function headersOf({ document }: { readonly document: JsonObject }): string[] {
  const names = operationsOf(document).flatMap(({ operation }) =>
    Object.values(child(operation, 'responses')).flatMap(response =>
      Object.keys(child(resolve(document, response), 'headers')),
    ),
  );
  return [...new Set(names)].filter(name => !ALWAYS_READABLE.includes(name));
}
