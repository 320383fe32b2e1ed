import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { rowsOf } from '#db/query.ts';
import { DAY_MS } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import { relay } from '#payments/events/relay.ts';
import { retentionWorker } from '#payments/retention.ts';
import { linkStore } from '#payments/store/link-store.ts';
import { list, record, text } from '../../lab/json.ts';
import { aLink } from '../../lab/payments-records.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { bothDatabases } from '../../support/databases.ts';
import { type Merchant, type PaymentsApi, startPaymentsApi } from '../../support/payments-api.ts';
import { newWebhook } from '../../support/webhooks-api.ts';
import { readableTables } from './readable-tables.ts';

const SESSIONS = '/api/v1/checkout-sessions';
const size = { id: 'size', type: 'text', label: 'Size', required: true, placeholder: null } as const;
const ADA = {
  customerEmail: 'ada@analytical.example',
  customerName: 'Augusta Byron',
  form_data: { size: 'petite-37' },
};
/** Everything that the payer wrote. */
const WRITTEN = /analytical\.example|augusta|petite-37/i;

bothDatabases('the retention of unpaid sessions', databases => {
  let api: PaymentsApi;
  let shop: Merchant;
  beforeAll(async () => {
    api = await startPaymentsApi(await databases.create('payments'));
  });
  afterAll(() => api[Symbol.asyncDispose]());
  beforeEach(async () => {
    shop = await api.merchant();
    await newWebhook(shop, { url: 'http://127.0.0.1:9/hook', events: ['*'] });
    const mailed = { email_enabled: true, email_address: 'shop@books.example', customer_emails: true };
    await shop.patch('/api/v1/notifications', { ...mailed, enabled_events: ['payment.failed'] });
  });

  const aLinkWith = async (terms: Parameters<typeof aLink>[1]) => {
    const link = aLink(shop.owner, { formSchema: { fields: [{ ...size, options: [] }] }, ...terms });
    await linkStore(api.db).insert(link);
    return link.id;
  };

  async function opened(payment_link_id: string, who: object): Promise<string> {
    const { body } = await shop.post(SESSIONS, { payment_link_id, form_data: { size: '40' }, ...who });
    return text(record(body).id);
  }

  const simulated = (id: string, outcome: string) =>
    shop.post(`/api/v1/test/sessions/${id}/simulate`, { outcome });

  const relayed = async () => {
    const worker = relay({ ...api, log: createLogger({ level: 'silent' }) });
    while ((await worker.runOnce(AbortSignal.timeout(PATIENCE_MS))) > 0);
  };

  /** Runs the retention of a service that keeps unpaid sessions for two days until nothing is left to do. */
  const tidied = async () => {
    const worker = retentionWorker({ ...api, unpaidSessionsMs: 2 * DAY_MS });
    while ((await worker.runOnce(AbortSignal.timeout(PATIENCE_MS))) > 0);
  };

  const tablesWith = async (pattern: RegExp) =>
    [...(await readableTables(api.db, api.seals))]
      .flatMap(([table, all]) => (pattern.test(all) ? [table] : []))
      .sort();

  const eventsOf = async () => list(record((await shop.get('/api/v1/events')).body).data).map(record);

  test('takes what their payers wrote from events, deliveries and notices that stay', async () => {
    const failed = await opened(await aLinkWith({}), ADA);
    await simulated(failed, 'failed');
    await shop.post(`${SESSIONS}/${failed}/expire`);
    await relayed();
    api.clock.advance(3 * DAY_MS);
    expect(await tablesWith(WRITTEN)).toEqual([
      'checkout_sessions',
      'customers',
      'deliveries',
      'events',
      'notices',
    ]);

    await tidied();

    expect((await shop.get(`${SESSIONS}/${failed}`)).status).toBe(404);
    expect(await tablesWith(WRITTEN)).toEqual([]);
    const events = await eventsOf();
    expect(events.map(({ event }) => event).sort()).toEqual(['checkout.expired', 'payment.failed']);
    expect(events.map(({ data }) => record(record(data).checkoutSession).id)).toEqual([failed, failed]);
    expect(await rowsOf(api.db, "select kind from notices where kind = 'payment'")).toHaveLength(1);
  });

  test('drops the mail to the payer of one whose product was sold out', async () => {
    const link = await aLinkWith({ maxUses: 1 });
    const [late, paid] = [await opened(link, ADA), await opened(link, {})];
    await simulated(paid, 'completed');
    await relayed();
    api.clock.advance(3 * DAY_MS);
    expect(await tablesWith(WRITTEN)).toContain('notices');

    await tidied();

    expect((await shop.get(`${SESSIONS}/${late}`)).status).toBe(404);
    expect((await shop.get(`${SESSIONS}/${paid}`)).status).toBe(200);
    expect(await tablesWith(WRITTEN)).toEqual([]);
  });

  test('leaves what payers of other sessions wrote', async () => {
    const link = await aLinkWith({});
    const kept = await opened(link, { ...ADA, customerEmail: 'bob@kept.example' });
    await simulated(kept, 'completed');
    const removed = await opened(link, ADA);
    await shop.post(`${SESSIONS}/${removed}/expire`);
    await relayed();
    api.clock.advance(3 * DAY_MS);

    await tidied();

    expect(await tablesWith(/analytical\.example/)).toEqual([]);
    expect(await tablesWith(/bob@kept\.example/)).toEqual([
      'checkout_sessions',
      'customers',
      'deliveries',
      'events',
      'notices',
    ]);
  });
});
