import { once } from 'node:events';
import { connect } from 'node:net';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { createLogger } from '#lib/logger.ts';
import { startOwnPostgres } from '../lab/own-postgres.ts';
import { startTestPayments, startTestProcess, type TestPaymentsService } from '../lab/payments-service.ts';
import { until } from '../lab/until.ts';
import { postgresDatabase } from '../support/databases.ts';

/** A database where every statement on `leases` blocks from `silence` to `answer`. */
async function silentLeases() {
  const { options, remove } = await postgresDatabase('payments');
  onTestFinished(remove);
  const locks = new pg.Client({ connectionString: options.url });
  await locks.connect();
  onTestFinished(() => locks.end());
  return {
    // Statements wait for the lock longer than any test.
    options: { ...options, statementTimeoutMs: 240_000, lockTimeoutMs: 120_000 },
    silence: () => locks.query('begin; lock table leases in access exclusive mode'),
    answer: () => locks.query('rollback'),
  };
}

/** A logger, and its warnings about a farewell that could not be written. */
function recordedFarewells() {
  const lines: string[] = [];
  const log = createLogger({ level: 'warn', destination: { write: line => lines.push(line) } });
  return { log, failed: () => lines.filter(line => line.includes('announcing the end of this process')) };
}

/** A connection with a request that has begun and does not end. */
async function openRequest({ url, demoKey }: TestPaymentsService) {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  const head = ['POST /api/v1/payment-links HTTP/1.1', 'Host: shop', `Authorization: Bearer ${demoKey}`];
  const body = ['Content-Type: application/json', 'Content-Length: 99', 'Expect: 100-continue'];
  socket.write([...head, ...body, '', ''].join('\r\n'));
  const [answer] = await once(socket, 'data');
  return { answer: String(answer), end: () => socket.destroy() };
}

test('a service stops accepting connections before its farewell, which waits for a silent database', async () => {
  const database = await silentLeases();
  const { log, failed } = recordedFarewells();
  const service = await startTestPayments(database.options, { log, drain: { withinMs: 120_000 } });
  const request = await openRequest(service);
  await database.silence();

  const closed = service.close();
  const isAccepting = await until(
    () =>
      fetch(service.url).then(
        () => true,
        () => false,
      ),
    accepting => !accepting,
  );
  const before = failed();
  request.end();
  const after = await until(
    async () => failed(),
    ({ length }) => length > 0,
  );
  await database.answer();
  await closed;

  expect(request.answer).toContain('100 Continue');
  expect(isAccepting).toBe(false);
  expect([before.length, after.length]).toEqual([0, 1]);
});

test('a process does not wait for a silent database to write its farewell', async () => {
  const database = await silentLeases();
  const { log, failed } = recordedFarewells();
  const service = await startTestProcess(database.options, { log, roles: ['delivery'] });
  await database.silence();

  const closed = service.close();
  const told = await until(
    async () => failed(),
    ({ length }) => length > 0,
  );
  await database.answer();
  await closed;

  expect(told).toHaveLength(1);
});

test('a service still closes when its lease cannot be released', async () => {
  await using postgres = await startOwnPostgres();
  const lines: string[] = [];
  const log = createLogger({ level: 'warn', destination: { write: line => lines.push(line) } });
  const service = await startTestProcess({ kind: 'postgres', url: postgres.url }, { log });
  await postgres.stop();

  await service.close();

  expect(lines.filter(line => line.includes('failed while ending a worker'))).toHaveLength(1);
});
