import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { createLogger } from '#lib/logger.ts';
import { postgresDatabase } from '../support/databases.ts';
import { startOwnPostgres } from '../support/own-postgres.ts';
import { startTestPayments, startTestProcess } from '../support/payments-service.ts';
import { until } from '../support/until.ts';

/** Longest time to stop accepting connections, on a busy machine. A lock is waited for longer. */
const PROMPT_MS = 9_000;

/** A database where every statement on `leases` blocks from `silence` to `answer`. */
async function silentLeases() {
  const { options, remove } = await postgresDatabase('payments');
  onTestFinished(remove);
  const locks = new pg.Client({ connectionString: options.url });
  await locks.connect();
  onTestFinished(() => locks.end());
  return {
    options,
    silence: () => locks.query('begin; lock table leases in access exclusive mode'),
    answer: () => locks.query('rollback'),
  };
}

test('a service stops accepting connections at once even while its database is silent', async () => {
  const database = await silentLeases();
  const service = await startTestPayments(database.options);
  await database.silence();

  const closed = service.close();
  const startedAt = performance.now();
  const isAccepting = () =>
    fetch(service.url).then(
      () => true,
      () => false,
    );
  while (await isAccepting()) await delay(20);
  const tookMs = performance.now() - startedAt;
  await database.answer();
  await closed;

  expect(tookMs).toBeLessThan(PROMPT_MS);
});

test('a process waits at most a second to write its farewell', async () => {
  const database = await silentLeases();
  const lines: string[] = [];
  const log = createLogger({ level: 'warn', destination: { write: line => lines.push(line) } });
  const service = await startTestProcess(database.options, { log, roles: ['delivery'] });
  await database.silence();

  const closed = service.close();
  const told = await until(
    async () => lines.filter(line => line.includes('announcing the end of this process')),
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
