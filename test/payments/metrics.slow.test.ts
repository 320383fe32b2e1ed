import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/db/open.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { paymentsMetrics } from '../../src/payments/metrics.ts';
import { registerWorkerGauges } from '../../src/program/workers/parent.ts';
import { diskSpace } from '../../src/stores/disk-space.ts';
import { record, text } from '../lab/json.ts';
import { startTestPayments } from '../lab/payments-service.ts';
import { eachDatabase, sqliteDatabase } from '../support/databases.ts';
import { manualClock } from '../support/manual-clock.ts';
import { RECIPIENT, startPaymentsApi, TEST_CHAIN, TOKEN } from '../support/payments-api.ts';

const log = createLogger({ level: 'silent' });

eachDatabase('metrics of payments', databases => {
  test('show waiting work, and are read at most every five seconds', async () => {
    await using api = await startPaymentsApi(await databases.create('payments'));
    const { registry } = createMetrics();
    const dueSince = api.clock.now() - 90_000;
    const webhooksWithDue = async () => [{ webhookId: 'wh_1', organizationId: 'org_1', dueSince }];
    paymentsMetrics({ registry, db: api.db, clock: api.clock, log, webhooksWithDue });
    const merchant = await api.merchant();
    const terms = {
      token_address: TOKEN,
      chain_id: TEST_CHAIN,
      recipient_address: RECIPIENT,
      amount: '4000000',
    };
    const open = () => merchant.post('/api/v1/checkout-sessions', terms);
    await open();
    const { body } = await open();
    const outcome = { outcome: 'underpaid' };
    await merchant.post(`/api/v1/test/sessions/${text(record(body).id)}/simulate`, outcome);

    const first = (await registry.metrics()).split('\n');
    await open();
    const again = (await registry.metrics()).split('\n');
    api.clock.advance(5_000);
    const later = (await registry.metrics()).split('\n');

    expect(first).toContain('tollgate_payments_open_sessions{state="awaiting_payment"} 1');
    expect(first).toContain('tollgate_payments_open_sessions{state="underpaid"} 1');
    expect(first).toContain('tollgate_payments_queue_length{queue="events"} 1');
    expect(first).toContain('tollgate_payments_queue_length{queue="deliveries"} 0');
    expect(first).toContain('tollgate_payments_oldest_due_delivery_age_seconds 90');
    expect(first).toContain('tollgate_payments_open_unmatched_transfers 0');
    expect(first).toContain('tollgate_payments_disabled_webhooks 0');
    expect(again).toContain('tollgate_payments_open_sessions{state="awaiting_payment"} 1');
    expect(later).toContain('tollgate_payments_open_sessions{state="awaiting_payment"} 2');
  });
});

test('an unavailable database removes only the gauges read from it', async () => {
  const database = await sqliteDatabase('payments');
  const db = openDatabase(database.options);
  const { registry } = createMetrics();
  const webhooksWithDue = async () => [];
  const counters = paymentsMetrics({ registry, db, clock: manualClock(), log, webhooksWithDue });
  counters.deliveryAttempt('success');
  await db.destroy();
  await database.remove();

  const lines = (await registry.metrics()).split('\n');

  expect(lines).toContain('tollgate_payments_delivery_attempts_total{result="success"} 1');
  expect(lines.filter(line => /^tollgate_payments_(open|queue|oldest|disabled)/.test(line))).toEqual([]);
});

test('all metrics of a process with both services follow the Prometheus conventions', async () => {
  const database = await sqliteDatabase('payments');
  const metrics = createMetrics({ ofProcess: true });
  metrics.request('getThing', 200, 0.1);
  metrics.cacheResult('hit');
  metrics.backendCall({ chain: '1', backend: 'index', outcome: 'ok', seconds: 0.1 });
  metrics.droppedRecord({ chain: '1', backend: 'index', kind: 'log' });
  metrics.watchIndex(() => [{ chain: '1', headBlock: 1, lagBlocks: 0 }]);
  diskSpace({ metrics, log }).writer('cache', import.meta.filename);
  const service = await startTestPayments(database.options, { metrics });
  const promtool = spawn('promtool', ['check', 'metrics'], { stdio: ['pipe', 'pipe', 'pipe'] });

  promtool.stdin.end(await metrics.registry.metrics());
  const [findings, [code]] = await Promise.all([textOf(promtool.stderr), once(promtool, 'close')]);
  await service.close();
  await database.remove();

  expect([code, findings]).toEqual([0, '']);
});

test('the documentation names exactly the metrics of a process with both services and workers', async () => {
  const database = await sqliteDatabase('payments');
  const metrics = createMetrics({ ofProcess: true });
  registerWorkerGauges(metrics, () => []);
  diskSpace({ metrics, log });
  const service = await startTestPayments(database.options, { metrics });
  const ours = metrics.registry.getMetricsAsArray().filter(({ name }) => name.startsWith('tollgate_'));
  await service.close();
  await database.remove();
  const guide = await readFile('docs/metrics.md', 'utf8');

  const documented = [...guide.matchAll(/^\| `(tollgate_\w+)` \| (\w+) /gm)].map(([, name]) => name);

  expect(documented.sort()).toEqual(ours.map(({ name }) => name).sort());
});
