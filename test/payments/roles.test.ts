import { expect, test } from 'vitest';
import type { DatabaseOptions } from '#db/open.ts';
import { createLogger } from '#lib/logger.ts';
import type { PaymentsRole } from '#payments/role-presence.ts';
import type { PaymentsServiceOptions } from '#payments/service.ts';
import { record } from '../lab/json.ts';
import { startTestProcess } from '../lab/payments-service.ts';
import { until } from '../lab/until.ts';
import { startReceiver } from '../lab/webhook-receiver.ts';
import { eachDatabase } from '../support/databases.ts';
import { manualClock } from '../support/manual-clock.ts';

eachDatabase('processes that share a payments database', databases => {
  function sharing(database: DatabaseOptions) {
    const clock = manualClock();
    const begin = (roles: readonly PaymentsRole[], overrides: Partial<PaymentsServiceOptions> = {}) =>
      startTestProcess(database, { clock, roles, ...overrides });
    return { clock, begin };
  }

  test('sell in one process and deliver events in another without a listener', async () => {
    const { clock, begin } = sharing(await databases.create('payments'));
    await using receiver = await startReceiver();
    await using selling = await begin(['payments']);
    await using sending = await begin(['delivery']);
    const ask = async (path: string, body: object) => {
      const answer = await fetch(`${selling.api?.url}/api/v1${path}`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${selling.api?.demoKey}`,
          'Content-Type': 'application/json',
        },
        body: JSON.stringify(body),
      });
      return record(await answer.json());
    };
    await ask('/webhooks', { url: receiver.url, events: ['checkout.completed'] });
    const link = await ask('/payment-links', { name: 'Field notebooks', amount: '7' });
    const session = await ask('/checkout-sessions', { payment_link_id: link.id });
    await ask(`/test/sessions/${session.id}/simulate`, { outcome: 'completed' });

    const told = await until(
      async () => {
        clock.advance(1_000);
        return receiver.arrivals.map(({ body }) => record(JSON.parse(String(body))));
      },
      all => all.length > 0,
    );

    expect(told).toMatchObject([{ event: 'checkout.completed' }]);
    expect(sending.api).toBeUndefined();
  });

  test('report a missing role in status and log until a process has it', async () => {
    const database = await databases.create('payments');
    const { clock, begin } = sharing(database);
    const lines: string[] = [];
    const log = createLogger({ level: 'info', destination: { write: line => lines.push(line) } });
    const warned = () => lines.filter(line => line.includes('no process has the role delivery')).length;
    await using selling = await begin(['payments', 'settlement'], { log });
    const state = async () => record(await selling.status());
    const later = () => {
      clock.advance(1_000);
      return state();
    };
    const atFirst = await state();

    const alone = await until(
      later,
      ({ warnings }) => warned() > 0 && Array.isArray(warnings) && warnings.length > 0,
    );
    await using sending = await begin(['delivery']);
    const together = await until(later, ({ warnings }) => Array.isArray(warnings) && warnings.length === 0);
    await sending.close();
    const left = await until(later, ({ warnings }) => Array.isArray(warnings) && warnings.length > 0);

    const missing = 'no process has the role delivery: events are kept but not sent';
    expect(atFirst).toMatchObject({ warnings: [] });
    expect(alone).toMatchObject({
      processes: { payments: 1, settlement: 1, delivery: 0 },
      warnings: [missing],
    });
    expect(together).toMatchObject({ processes: { delivery: 1 }, warnings: [] });
    expect(left).toMatchObject({ processes: { delivery: 0 }, warnings: [missing] });
  });
});
