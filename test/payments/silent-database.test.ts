import pg from 'pg';
import { test as base, expect } from 'vitest';
import { createAdminApp } from '../../src/http/app/admin.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { listen } from '../../src/http/server/server.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { startTestPayments } from '../lab/payments-service.ts';
import { PATIENCE_MS, until } from '../lab/until.ts';
import { postgresDatabase } from '../support/databases.ts';

const log = createLogger({ level: 'silent' });
const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are used.
  .extend('silent', { scope: 'file' }, async ({}, { onCleanup }) => {
    const silent = await silenced();
    onCleanup(() => silent[Symbol.asyncDispose]());
    return silent;
  });

/** A service and its admin listener, with a database that accepts statements and never answers. */
async function silenced() {
  const database = await postgresDatabase('payments');
  const metrics = createMetrics();
  const service = await startTestPayments(database.options, { metrics });
  const status = { payments: service.status, data: async () => ({ chains: [] }) };
  const admin = await listen({
    app: createAdminApp({ metrics, log, status }),
    host: '127.0.0.1',
    port: 0,
    log,
  });
  // Waits until a watcher leads. Reading all metrics would also read the gauges while the database still answers.
  const changes = metrics.registry.getSingleMetric('tollgate_payments_leader_changes_total');
  await until(
    async () => (await changes?.get())?.values.length ?? 0,
    count => count > 0,
  );
  const locks = new pg.Client({ connectionString: database.options.url });
  await locks.connect();
  await locks.query('begin; lock table checkout_sessions, chain_cursors in access exclusive mode');
  return {
    get: (path: string) => fetch(`${admin.url}${path}`, { signal: AbortSignal.timeout(PATIENCE_MS) }),
    async [Symbol.asyncDispose]() {
      await locks.query('rollback');
      await locks.end();
      await admin.close();
      await service.close();
      await database.remove();
    },
  };
}

test.concurrent('a scrape succeeds while the database is silent, without the gauges read from it', async ({
  silent,
}) => {
  const answer = await silent.get('/metrics');
  const lines = (await answer.text()).split('\n');

  expect(answer.status).toBe(200);
  expect(lines).toContainEqual(expect.stringMatching(/^tollgate_payments_leader_changes_total/));
  expect(lines.filter(line => /^tollgate_payments_(open|queue|oldest|disabled|watcher)/.test(line))).toEqual(
    [],
  );
});

test.concurrent('/status shows the other services while the database of one is silent', async ({
  silent,
}) => {
  const answer = await silent.get('/status');

  expect([answer.status, await answer.json()]).toEqual([
    503,
    { payments: { error: 'not available' }, data: { chains: [] } },
  ]);
});
