import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { execute, rowsOf } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import { createLogger } from '#lib/logger.ts';
import { customerErasures } from '#payments/api/customers/customer-erasure.ts';
import { emailHashes } from '#payments/customers/customer-rows.ts';
import { relay } from '#payments/events/relay.ts';
import { retentionWorker } from '#payments/retention.ts';
import { sessionStore } from '#payments/sessions/session-store.ts';
import { linkStore } from '#payments/store/link-store.ts';
import { list, record, text } from '../../lab/json.ts';
import { aLink } from '../../lab/payments-records.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { bothDatabases } from '../../support/databases.ts';
import {
  errorOf,
  type Merchant,
  type PaymentsApi,
  PLACE,
  startPaymentsApi,
} from '../../support/payments-api.ts';
import { newWebhook } from '../../support/webhooks-api.ts';
import { echoDeliveries } from './echoed-deliveries.ts';
import { readableTables } from './readable-tables.ts';

const CUSTOMERS = '/api/v1/customers';
const SESSIONS = '/api/v1/checkout-sessions';
const WALLET = `0x${'aa'.repeat(20)}`;
const size = { id: 'size', type: 'text', label: 'Size', required: true, placeholder: null } as const;
const ADA = {
  customerEmail: 'Ada.Lovelace@Analytical.example',
  customerName: 'Augusta Byron',
  form_data: { size: 'petite-37' },
  shipping_address: { line1: '12 Secret Square', city: 'Marylebone', zip: 'SW1Y-4JH' },
};
const BOB = {
  customerEmail: 'bob@kept.example',
  customerName: 'Bob Remaining',
  form_data: { size: 'kept-44' },
  shipping_address: { line1: '1 Open Road', city: 'Ely', zip: 'CB7' },
};
/** Everything that the first customer wrote. Random ids have no such text: each has a dot, a space, a hyphen or many letters. */
const WRITTEN = /ada\.lovelace|analytical\.example|augusta|petite-37|secret square|marylebone|sw1y-4jh/i;

bothDatabases('erasing a customer', databases => {
  let api: PaymentsApi;
  let shop: Merchant;
  let linkId: string;
  let keys = 0;
  beforeAll(async () => {
    api = await startPaymentsApi(await databases.create('payments'));
  });
  afterAll(() => api[Symbol.asyncDispose]());
  beforeEach(async () => {
    shop = await api.merchant();
    const link = aLink(shop.owner, {
      amount: 2_500_000n,
      formSchema: { fields: [{ ...size, options: [] }] },
      collectShippingAddress: true,
    });
    await linkStore(api.db).insert(link);
    linkId = link.id;
    await newWebhook(shop, { url: 'http://127.0.0.1:9/hook', events: ['*'] });
    const settings = { email_enabled: true, email_address: 'shop@books.example', customer_emails: true };
    await shop.patch('/api/v1/notifications', settings);
  });

  /** The shop's metadata has the name of a field that an erasing empties. */
  const termsOf = (who: object) => {
    const metadata = { customer_id: '42' };
    return { payment_link_id: linkId, clientReferenceId: 'order-7', metadata, ...who };
  };

  async function opened(who: object): Promise<string> {
    api.clock.advance(1_000);
    const terms = termsOf(who);
    keys += 1;
    const { body } = await shop.post(SESSIONS, terms, { 'Idempotency-Key': `key-${keys}` });
    return text(record(body).id);
  }

  const simulated = (id: string, outcome: string) =>
    shop.post(`/api/v1/test/sessions/${id}/simulate`, { outcome });

  const relayed = async () => {
    const worker = relay({ ...api, log: createLogger({ level: 'silent' }) });
    while ((await worker.runOnce(AbortSignal.timeout(PATIENCE_MS))) > 0);
  };

  /** A purchase, a checkout paid in part that has ended, and an open one; with deliveries, mails and stored answers. */
  async function customerOf(who: object): Promise<{ id: string; paid: string; open: string }> {
    const paid = await opened(who);
    await transaction(api.db, handle =>
      sessionStore(handle, api.seals).bindWallet(paid, WALLET, api.clock.now()),
    );
    await simulated(paid, 'completed');
    const partial = await opened(who);
    await simulated(partial, 'underpaid');
    await shop.post(`${SESSIONS}/${partial}/expire`);
    await api.payer.post(`/api/v1/pay/sessions/${partial}/refund-address/link`);
    await relayed();
    const open = await opened(who);
    const { body } = await shop.get(`${SESSIONS}/${paid}`);
    return { id: text(record(body).customer_id), paid, open };
  }

  const tablesWith = async (pattern: RegExp) =>
    [...(await readableTables(api.db, api.seals))].flatMap(([table, all]) =>
      pattern.test(all) ? [table] : [],
    );

  test('leaves nothing of what the customer wrote in any table, and everything of others', async () => {
    const ada = await customerOf(ADA);
    // The shop writes down which order is repeated.
    await customerOf({ ...BOB, metadata: { repeats: ada.paid } });
    await echoDeliveries(api, shop.owner);
    const everywhere = [
      'checkout_sessions',
      'customers',
      'deliveries',
      'delivery_attempts',
      'events',
      'idempotency_keys',
      'notices',
    ];
    expect((await tablesWith(WRITTEN)).sort()).toEqual(everywhere);

    const erased = await shop.delete(`${CUSTOMERS}/${ada.id}`);

    expect([erased.status, erased.body]).toEqual([200, { object: 'customer', id: ada.id, deleted: true }]);
    expect(await tablesWith(WRITTEN)).toEqual([]);
    const [hash] = emailHashes(ADA.customerEmail, api.seals);
    const tables = await readableTables(api.db, api.seals);
    expect([...tables.values()].some(all => all.includes(hash))).toBe(false);
    expect(tables.get('customer_erasures')).toBe('');
    expect((await tablesWith(/bob@kept\.example|Bob Remaining|kept-44/)).sort()).toEqual(everywhere);
  });

  test('keeps amounts, hashes, wallets and what the shop wrote', async () => {
    const { id, paid } = await customerOf(ADA);
    const before = record((await shop.get(`${SESSIONS}/${paid}`)).body);
    const payments = record((await shop.get(`/api/v1/transactions?session_id=${paid}`)).body);

    await shop.delete(`${CUSTOMERS}/${id}`);

    expect((await shop.get(`${SESSIONS}/${paid}`)).body).toEqual({
      ...before,
      customer_id: null,
      customerEmail: null,
      customerName: null,
      form_data: null,
      shipping_address: null,
    });
    expect(before).toMatchObject({ payer_address: WALLET, clientReferenceId: 'order-7' });
    const [kept] = list(record((await shop.get(`/api/v1/transactions?session_id=${paid}`)).body).data);
    const [payment] = list(payments.data);
    const { amount, tx_hash, sender_address } = record(payment);
    expect(kept).toMatchObject({ amount, tx_hash, sender_address, customerEmail: null, customer_id: null });
    expect(errorOf(await shop.get(`${CUSTOMERS}/${id}`))).toBe('404 resource_not_found');
    expect(errorOf(await shop.delete(`${CUSTOMERS}/${id}`))).toBe('404 resource_not_found');
  });

  test('takes the mails to the customer that are not sent yet, and keeps those to the shop', async () => {
    const { id } = await customerOf(ADA);
    const kinds = async () => {
      const rows = await rowsOf<{ id: string; sealed_payload: string }>(
        api.db,
        "select id, sealed_payload from notices where organization_id = ? and status = 'pending'",
        [shop.owner.organizationId],
      );
      const cell = { table: 'notices', column: 'sealed_payload' };
      const payloads = rows.map(row =>
        record(JSON.parse(api.seals.open(row.sealed_payload, { ...cell, id: row.id }))),
      );
      return [...new Set(payloads.map(({ kind }) => text(kind)))].sort();
    };
    expect(await kinds()).toEqual(['attention', 'customer', 'payment', 'refund_link']);

    await shop.delete(`${CUSTOMERS}/${id}`);

    expect(await kinds()).toEqual(['attention', 'payment']);
  });

  test('leaves an open checkout that can be paid, and the next one has a new customer', async () => {
    const { id, open } = await customerOf(ADA);
    await shop.delete(`${CUSTOMERS}/${id}`);

    expect((await api.payer.get(`/api/v1/pay/sessions/${open}`)).status).toBe(200);
    expect((await simulated(open, 'completed')).body).toMatchObject({
      status: 'completed',
      customer_id: null,
    });
    await relayed();
    expect(await tablesWith(WRITTEN)).toEqual([]);
    const next = await opened(ADA);
    const { body } = await shop.get(`${SESSIONS}/${next}`);
    const again = text(record(body).customer_id);
    expect(again).not.toBe(id);
    expect((await shop.get(`${CUSTOMERS}/${again}`)).body).toMatchObject({ checkouts: 1, name: null });
    await shop.delete(`${CUSTOMERS}/${again}`);
  });

  test('is in the audit log with the id only, and answers repeated requests without the customer', async () => {
    const { id } = await customerOf(ADA);
    await shop.delete(`${CUSTOMERS}/${id}`);

    const { body } = await shop.get('/api/v1/audit-events?type=customer.delete');
    const repeated = await shop.post(SESSIONS, termsOf(ADA), { 'Idempotency-Key': `key-${keys}` });

    expect(list(record(body).data)).toMatchObject([
      { type: 'customer.delete', resource_id: id, method: 'DELETE' },
    ]);
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
    expect(repeated.body).toMatchObject({ customerEmail: null, form_data: null, customer_id: null });
    expect(record(repeated.body).metadata).toEqual({ customer_id: '42' });
  });

  test('is finished by retention when its process ended after the first step', async () => {
    const { id, open } = await customerOf(ADA);
    const erasures = customerErasures(api);
    expect(await transaction(api.db, handle => erasures.begin(handle, shop.owner, id))).toBe(true);
    expect(errorOf(await shop.get(`${CUSTOMERS}/${id}`))).toBe('404 resource_not_found');
    // A wallet that signs meanwhile does not take the checkout out of the erasing.
    await transaction(api.db, handle =>
      sessionStore(handle, api.seals).bindWallet(open, WALLET, api.clock.now()),
    );

    api.clock.advance(61_000);
    await retentionWorker(api).runOnce(AbortSignal.timeout(PATIENCE_MS));

    expect(await tablesWith(WRITTEN)).toEqual([]);
    expect((await shop.get(`${SESSIONS}/${open}`)).body).toMatchObject({ customer_id: null });
    expect(await rowsOf(api.db, 'select * from customer_erasures')).toEqual([]);
  });

  test('includes checkouts of an older version that were not assigned to customers yet', async () => {
    const { id, paid } = await customerOf(ADA);
    await execute(api.db, 'update checkout_sessions set customer_id = null where id = ?', [paid]);

    await shop.delete(`${CUSTOMERS}/${id}`);

    expect(await tablesWith(WRITTEN)).toEqual([]);
  });

  test('looks at no checkout of another organization, and at none for a customer that is missing', async () => {
    const { id, paid } = await customerOf(ADA);
    const other = await api.merchant();
    const { body } = await other.post(SESSIONS, {
      ...PLACE,
      amount: '5',
      customerEmail: 'eve@other.example',
    });
    const theirs = text(record(body).id);
    await execute(api.db, 'update checkout_sessions set customer_id = null where id in (?, ?)', [
      paid,
      theirs,
    ]);
    const unassigned = async () =>
      (
        await rowsOf<{ id: string }>(api.db, 'select id from checkout_sessions where customer_id is null')
      ).map(row => row.id);

    const missing = await shop.delete(`${CUSTOMERS}/cust_${'0'.repeat(24)}`);
    const before = await unassigned();
    await shop.delete(`${CUSTOMERS}/${id}`);

    expect(errorOf(missing)).toBe('404 resource_not_found');
    expect(before.sort()).toEqual([paid, theirs].sort());
    expect(await unassigned()).toEqual([theirs]);
  });

  test('is left to retention when it takes too long', async () => {
    const { id, paid } = await customerOf(ADA);
    const erasures = customerErasures(api);
    const over = AbortSignal.abort();
    await execute(api.db, 'update checkout_sessions set customer_id = null where id = ?', [paid]);
    const prepared = [await erasures.prepare(shop.owner, over), await erasures.prepare(shop.owner, over)];
    await transaction(api.db, handle => erasures.begin(handle, shop.owner, id));

    const isFinished = await erasures.finish(id, over);

    expect([...prepared, isFinished]).toEqual([false, true, false]);
    expect(errorOf(await shop.get(`${CUSTOMERS}/${id}`))).toBe('404 resource_not_found');
    expect(await tablesWith(WRITTEN)).not.toEqual([]);
    api.clock.advance(61_000);
    await retentionWorker(api).runOnce(AbortSignal.timeout(PATIENCE_MS));
    expect(await tablesWith(WRITTEN)).toEqual([]);
  });
});
