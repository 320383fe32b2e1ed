import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestPayments, type TestPaymentsService } from '../lab/payments-service.ts';
import { sqliteDatabase, type TestDatabase } from '../support/databases.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

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

const root = (accept: string, method = 'GET') =>
  fetch(`${service.url}/`, { method, headers: { Accept: accept } });

test('a browser gets a page at the root, whose links all lead to pages', async () => {
  const reply = await root(BROWSER);
  const page = await reply.text();
  const links = [...page.matchAll(/<a [^>]*href="(\/[^"]*)"/g)].map(([, path]) => `${path}`);

  expect(reply.status).toBe(200);
  expect(reply.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(reply.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(reply.headers.get('access-control-allow-origin')).toBeNull();
  expect(reply.headers.get('vary')).toContain('Accept');
  expect(page).toContain('<h1>Payments</h1>');
  expect(links).toEqual(['/', '/dashboard', '/docs']);
  for (const path of links) {
    const { status, headers } = await fetch(service.url + path, { headers: { Accept: BROWSER } });
    expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8']);
  }
});

test.each(['*/*', 'application/json', 'application/json, text/html;q=0.5'])(
  'a program that accepts %s gets a 404 in JSON at the root',
  async accept => {
    const reply = await root(accept);

    expect(reply.status).toBe(404);
    expect(await reply.json()).toMatchObject({ error: { code: 'resource_not_found' } });
    expect(reply.headers.get('vary')).toContain('Accept');
  },
);

test('the root takes no other method', async () => {
  expect((await root(BROWSER, 'POST')).status).toBe(404);
});
