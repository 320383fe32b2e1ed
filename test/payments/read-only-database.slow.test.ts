import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { text } from '../lab/json.ts';
import { type OwnPostgres, startOwnPostgres } from '../lab/own-postgres.ts';
import { startTestPayments, type TestPaymentsService } from '../lab/payments-service.ts';
import { until } from '../lab/until.ts';
import { apiClient } from '../support/payments-api.ts';

let postgres: OwnPostgres;
let administrator: pg.Client;
let service: TestPaymentsService;

beforeEach(async () => {
  postgres = await startOwnPostgres();
  administrator = new pg.Client({ connectionString: postgres.url });
  administrator.on('error', () => undefined);
  await administrator.connect();
  service = await startTestPayments({ kind: 'postgres', url: postgres.url, lockTimeoutMs: 200 });
});

afterEach(async () => {
  await service?.close();
  await administrator?.end();
  await postgres?.[Symbol.asyncDispose]();
});

const readyz = async () => (await fetch(`${service.url}/readyz`)).status;
const LINK = { name: 'Stickers', amount: '1000000' };

test('a database that became read-only is answered with 503 and ends readiness until it can be written', async () => {
  const { post } = apiClient(service.url, text(service.demoKey));
  const before = await readyz();

  await administrator.query('alter system set default_transaction_read_only = on');
  await administrator.query('select pg_reload_conf()');
  const during = await until(readyz, status => status === 503);
  const write = await post('/api/v1/payment-links', LINK);
  await administrator.query('set default_transaction_read_only = off');
  await administrator.query('alter system reset default_transaction_read_only');
  await administrator.query('select pg_reload_conf()');
  const after = await until(readyz, status => status === 200);
  const written = await until(
    () => post('/api/v1/payment-links', LINK),
    ({ status }) => status === 201,
  );

  expect([before, during, after]).toEqual([200, 503, 200]);
  expect([write.status, write.headers.get('retry-after')]).toEqual([503, '5']);
  expect(written.status).toBe(201);
});

test('a request for a locked table is answered with 503', async () => {
  const { get } = apiClient(service.url, text(service.demoKey));
  await administrator.query('begin; lock table payment_links in access exclusive mode');

  const list = await get('/api/v1/payment-links');
  await administrator.query('rollback');

  expect([list.status, list.headers.get('retry-after')]).toEqual([503, '5']);
});
