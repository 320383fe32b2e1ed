import { once } from 'node:events';
import { createServer } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { rowsOf } from '#db/query.ts';
import { createLogger } from '#lib/logger.ts';
import type { Worker } from '#lib/worker.ts';
import { relay } from '#payments/events/relay.ts';
import { replayer } from '#payments/events/replayer.ts';
import { record, text } from '../../lab/json.ts';
import { PATIENCE_MS, until } from '../../lab/until.ts';
import { bothDatabases } from '../../support/databases.ts';
import { type Merchant, type PaymentsApi, PLACE, startPaymentsApi } from '../../support/payments-api.ts';
import { newWebhook, untilTold } from '../../support/webhooks-api.ts';
import { readableTables } from './readable-tables.ts';
import { type StatementGate, statementGate } from './statement-gate.ts';

const SESSIONS = '/api/v1/checkout-sessions';
const ADA = { customerEmail: 'ada@analytical.example', customerName: 'Augusta Byron' };
const WRITTEN = /analytical\.example|augusta/i;

bothDatabases('a customer who is erased', databases => {
  const isPostgres = databases.kind === 'postgres';
  let api: PaymentsApi;
  let shop: Merchant;
  beforeEach(async () => {
    api = await startPaymentsApi(await databases.create('payments'));
    shop = await api.merchant();
  });
  afterEach(() => api[Symbol.asyncDispose]());

  /** A checkout with such a simulated payment, which has ended. */
  async function paid(who: object, outcome: 'completed' | 'underpaid') {
    api.clock.advance(1_000);
    const { body } = await shop.post(SESSIONS, { ...PLACE, amount: '2500000', ...who });
    const { id, customer_id: customer } = record(body);
    await shop.post(`/api/v1/test/sessions/${text(id)}/simulate`, { outcome });
    if (outcome === 'underpaid') await shop.post(`${SESSIONS}/${text(id)}/expire`);
    return { id: text(id), customer: String(customer) };
  }

  const mailed = () =>
    shop.patch('/api/v1/notifications', { email_enabled: true, email_address: 'shop@books.example' });
  const quiet = createLogger({ level: 'silent' });
  const all = async (worker: Worker) => {
    while ((await worker.runOnce(AbortSignal.timeout(PATIENCE_MS))) > 0);
  };
  const relayed = () => all(relay({ ...api, log: quiet }));
  const erased = async (customer: string) =>
    expect((await shop.delete(`/api/v1/customers/${customer}`)).status).toBe(200);
  const tablesWith = async (pattern: RegExp) =>
    [...(await readableTables(api.db, api.seals))]
      .flatMap(([table, content]) => (pattern.test(content) ? [table] : []))
      .sort();

  /** Erases while `work` waits at a gate, as far as that is possible. */
  async function erasedBeside(gate: StatementGate, work: () => Promise<unknown>, customer: string) {
    const working = work();
    await gate.waiting(1);
    const erasing = erased(customer);
    await Promise.race([erasing, gate.waiting(2)]);
    await gate.open();
    await Promise.all([working, erasing]);
  }

  // SQLite runs one transaction at a time.
  if (isPostgres)
    test('is in no delivery of a replay that runs at the same time', async () => {
      const { customer } = await paid(ADA, 'completed');
      await relayed();
      const { path } = await newWebhook(shop, { url: 'http://127.0.0.1:9/hook', events: ['*'] });
      const begun = await shop.post(`${path}/replay`, { since: '2000-01-01T00:00:00Z' });
      expect(begun.status).toBe(200);
      await using gate = await statementGate(api.db, 'deliveries', 'insert');

      await erasedBeside(gate, () => all(replayer({ ...api, log: quiet })), customer);

      expect(await tablesWith(WRITTEN)).toEqual([]);
      expect(await rowsOf(api.db, 'select id from deliveries')).toHaveLength(2);
    });

  if (isPostgres)
    test('is in no notice that collects events at the same time', async () => {
      await mailed();
      const { customer } = await paid(ADA, 'underpaid');
      await relayed();
      await paid({ customerEmail: 'bob@kept.example' }, 'underpaid');
      await using gate = await statementGate(api.db, 'notices', 'update');

      await erasedBeside(gate, relayed, customer);

      expect(await tablesWith(WRITTEN)).toEqual([]);
      expect(await tablesWith(/bob@kept\.example/)).toContain('notices');
    });

  if (isPostgres)
    test('gets no mail with a link that was asked for at the same time', async () => {
      const { id, customer } = await paid(ADA, 'completed');
      await using gate = await statementGate(api.db, 'notices', 'insert');
      const asked = () => api.payer.post(`/api/v1/pay/sessions/${id}/refund-address/link`);

      await erasedBeside(gate, asked, customer);

      expect(await tablesWith(WRITTEN)).toEqual([]);
    });

  test('is in no answer of a receiver that had a delivery when it was erased', async () => {
    const answers = Promise.withResolvers<void>();
    let received = 0;
    await using receiver = createServer(async (request, response) => {
      const body = await textOf(request);
      received += 1;
      await answers.promise;
      response.end(body);
    });
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const address = receiver.address();
    const port = typeof address === 'object' ? address?.port : 0;
    await newWebhook(shop, { url: `http://127.0.0.1:${port}/hook`, events: ['*'], store_responses: true });
    const { customer } = await paid(ADA, 'completed');
    await paid({ customerEmail: 'bob@kept.example' }, 'completed');
    const told = api.tell();
    await until(
      () => Promise.resolve(received),
      count => count === 4,
    );

    await erased(customer);
    answers.resolve();

    await untilTold(
      api.clock,
      () => rowsOf(api.db, "select id from deliveries where status = 'success'"),
      rows => rows.length === 4,
    );
    await told.stop();
    expect(await tablesWith(WRITTEN)).toEqual([]);
    expect(await tablesWith(/bob@kept\.example/)).toContain('delivery_attempts');
  });
});
