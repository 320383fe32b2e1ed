import { afterAll, beforeAll, expect, test } from 'vitest';
import { transaction } from '#db/transaction.ts';
import { sessionStore } from '#payments/sessions/session-store.ts';
import { list, record, text } from '../../lab/json.ts';
import { bothDatabases } from '../../support/databases.ts';
import {
  type ApiClient,
  errorOf,
  idsOf,
  type Merchant,
  type PaymentsApi,
  PLACE,
  startPaymentsApi,
} from '../../support/payments-api.ts';

const PATH = '/api/v1/customers';
const SESSIONS = '/api/v1/checkout-sessions';
const WALLET = `0x${'aa'.repeat(20)}`;
const OTHER_WALLET = `0x${'bb'.repeat(20)}`;
const ADA = { customerEmail: 'Ada@Example.com', customerName: 'Ada Lovelace' };

bothDatabases('customers', databases => {
  let api: PaymentsApi;
  beforeAll(async () => {
    api = await startPaymentsApi(await databases.create('payments'));
  });
  afterAll(() => api[Symbol.asyncDispose]());

  /** The id of a new session; each is opened a second after the previous one. */
  async function opened(shop: ApiClient, fields: object = {}): Promise<string> {
    api.clock.advance(1_000);
    const { body } = await shop.post(SESSIONS, { ...PLACE, amount: '2000', ...fields });
    return text(record(body).id);
  }

  const signed = (id: string, wallet: string) =>
    transaction(api.db, handle => sessionStore(handle, api.seals).bindWallet(id, wallet, api.clock.now()));

  async function pay(shop: ApiClient, id: string): Promise<void> {
    api.clock.advance(1_000);
    const paid = await shop.post(`/api/v1/test/sessions/${id}/simulate`, { outcome: 'completed' });
    expect(paid.status).toBe(200);
  }

  async function bought(shop: ApiClient, fields: object, wallet?: string): Promise<string> {
    const id = await opened(shop, fields);
    if (wallet !== undefined) await signed(id, wallet);
    await pay(shop, id);
    return id;
  }

  /** Customers that a query finds, the newest first. */
  const found = async (shop: ApiClient, query: Record<string, string> = {}) =>
    list(record((await shop.get(`${PATH}?${new URLSearchParams(query)}`)).body).data).map(record);

  async function only(shop: ApiClient): Promise<Record<string, unknown>> {
    const [customer = {}, ...others] = await found(shop);
    expect(others).toEqual([]);
    return customer;
  }

  const csvOf = async (shop: ApiClient, query = '') =>
    text((await shop.get(`${PATH}/export${query}`)).body)
      .trim()
      .split('\r\n');

  test('a name or wallet that was typed but not paid changes no customer', async () => {
    const shop = await api.merchant();
    await bought(shop, ADA, WALLET);
    const known = await only(shop);

    const typed = await opened(shop, { customerEmail: 'ada@example.com', customerName: 'Mallory' });
    await signed(typed, OTHER_WALLET);

    expect(known).toMatchObject({ name: 'Ada Lovelace', wallet_address: WALLET });
    expect(await only(shop)).toEqual({ ...known, checkouts: 2 });
  });

  test('an unpaid checkout gives its customer neither a name nor a wallet', async () => {
    const shop = await api.merchant();
    await signed(await opened(shop, ADA), WALLET);

    const customer = await only(shop);

    expect(customer).toMatchObject({ email: 'Ada@Example.com', name: null, wallet_address: null });
    expect(customer).toMatchObject({
      checkouts: 1,
      completed_checkouts: 0,
      first_purchase_at: null,
      totals: [],
    });
  });

  test('the name is that of the latest purchase, and the wallet the first that signed and paid', async () => {
    const shop = await api.merchant();
    await bought(shop, ADA);
    await bought(shop, { ...ADA, customerName: 'A. Lovelace' }, WALLET);
    await bought(shop, { ...ADA, customerName: null }, OTHER_WALLET);

    expect(await only(shop)).toMatchObject({ name: 'A. Lovelace', wallet_address: WALLET });
  });

  test('a wallet that another one paid for is not that of the customer', async () => {
    const shop = await api.merchant();
    const id = await opened(shop, ADA);
    await signed(id, WALLET);
    await api.settle(async settle => {
      const session = await sessionStore(api.db, api.seals).findById(id);
      const { clock } = api;
      const transfer = {
        chainId: PLACE.chain_id,
        txHash: `0x${id.length.toString(16).padStart(64, 'c')}`,
        logIndex: 1,
        blockNumber: 7,
        blockHash: `0x${'07'.repeat(32)}`,
        blockTime: clock.now(),
        tokenAddress: PLACE.token_address,
        sender: OTHER_WALLET,
        recipient: PLACE.recipient_address,
        amount: session?.amountDue ?? 0n,
      };
      const payment = await settle.recordTransfer({ id }, transfer, {
        matchedBy: 'amount',
        confirmations: 2,
      });
      await settle.complete(payment.id);
    });

    expect(await only(shop)).toMatchObject({ completed_checkouts: 1, wallet_address: null });
  });

  test('an accepted checkout counts as a purchase', async () => {
    const shop = await api.merchant();
    const id = await opened(shop, ADA);
    await shop.post(`/api/v1/test/sessions/${id}/simulate`, { outcome: 'underpaid' });
    api.clock.advance(3_600_000);
    const due = { chainId: PLACE.chain_id, until: api.clock.now(), limit: 1_000 };
    await api.settle(settle => settle.expireDue(due));

    const before = await only(shop);
    await shop.post(`${SESSIONS}/${id}/accept`, {});

    expect(before).toMatchObject({ name: null, completed_checkouts: 0 });
    expect(await only(shop)).toMatchObject({ name: 'Ada Lovelace', completed_checkouts: 1 });
  });

  test('a wallet without an email address is a customer, and only while it is that of a checkout', async () => {
    const shop = await api.merchant();
    const id = await opened(shop);
    await signed(id, OTHER_WALLET);
    await signed(id, WALLET);
    await pay(shop, id);

    const customer = await only(shop);

    expect(customer).toMatchObject({ email: null, wallet_address: WALLET, completed_checkouts: 1 });
    expect((await shop.get(`${SESSIONS}/${id}`)).body).toMatchObject({ customer_id: customer.id });
  });

  test('one has the figures of what was bought, by token', async () => {
    const shop = await api.merchant();
    const first = await bought(shop, ADA);
    const firstAt = api.clock.now();
    await bought(shop, { ...ADA, amount: '3000' });
    const lastAt = api.clock.now();
    await opened(shop, ADA);
    const { id } = await only(shop);

    const { status, body } = await shop.get(`${PATH}/${text(id)}`);
    const received = await Promise.all(
      ['', `&status=completed`].map(async filter =>
        list(record((await shop.get(`${SESSIONS}?customer_id=${text(id)}${filter}`)).body).data).map(record),
      ),
    );
    const sum = (received[0] ?? []).reduce((all, one) => all + BigInt(text(one.amount_received)), 0n);

    expect(status).toBe(200);
    expect(body).toEqual({
      object: 'customer',
      id,
      mode: 'test',
      email: 'Ada@Example.com',
      name: 'Ada Lovelace',
      wallet_address: null,
      checkouts: 3,
      completed_checkouts: 2,
      first_purchase_at: new Date(firstAt).toISOString(),
      last_purchase_at: new Date(lastAt).toISOString(),
      totals: [
        {
          chain_id: PLACE.chain_id,
          token_address: PLACE.token_address,
          symbol: 'USDC',
          decimals: 6,
          amount_received: `${sum}`,
          amount_refunded: '0',
        },
      ],
      created_at: expect.any(String),
      updated_at: new Date(firstAt).toISOString(),
    });
    expect(received.map(one => one.length)).toEqual([3, 2]);
    const { body: payments } = await shop.get(`/api/v1/transactions?customer_id=${text(id)}`);
    expect(record(payments).total_count).toBe(2);
    const ofOne = await shop.get(`/api/v1/transactions?customer_id=${text(id)}&query=${first}`);
    expect(list(record(ofOne.body).data)).toMatchObject([{ session_id: first, customer_id: id }]);
    expect(record((await shop.get('/api/v1/transactions?customer_id=cust_none')).body).total_count).toBe(0);
  });

  test('the list is found by id, email address and wallet, and filtered by purchases', async () => {
    const shop = await api.merchant();
    await bought(shop, ADA, WALLET);
    await opened(shop, { customerEmail: 'bob@example.com' });
    await bought(shop, { customerEmail: 'eve@example.com' }, WALLET);
    const [eve, bob, ada] = await found(shop);
    const finds = async (query: Record<string, string>) => (await found(shop, query)).map(({ id }) => id);

    expect(await finds({ query: ' ada@EXAMPLE.com ' })).toEqual([ada?.id]);
    expect(await finds({ query: text(bob?.id) })).toEqual([bob?.id]);
    expect(await finds({ query: WALLET.toUpperCase().replace('X', 'x') })).toEqual([eve?.id, ada?.id]);
    for (const query of ['Lovelace', 'ada@example.co', OTHER_WALLET, 'cs_none'])
      expect([query, await finds({ query })]).toEqual([query, []]);
    expect(await finds({ paid: 'true' })).toEqual([eve?.id, ada?.id]);
    expect(await finds({ paid: 'false' })).toEqual([bob?.id]);
    expect(await finds({ paid: 'true', query: text(bob?.id) })).toEqual([]);
    expect(await finds({ from: text(bob?.created_at) })).toEqual([eve?.id, bob?.id]);
    expect(await finds({ order: 'asc' })).toEqual([ada?.id, bob?.id, eve?.id]);
  });

  test('the list continues by cursor, and its cursor is of no other list', async () => {
    const shop = await api.merchant();
    for (const name of ['a', 'b', 'c']) await opened(shop, { customerEmail: `${name}@example.com` });
    const all = idsOf(await shop.get(PATH));

    const first = await shop.get(`${PATH}?limit=2`);
    const cursor = text(record(first.body).next_cursor);
    const second = await shop.get(`${PATH}?limit=2&cursor=${cursor}`);

    expect([...idsOf(first), ...idsOf(second)]).toEqual(all);
    expect(record(second.body)).toMatchObject({
      has_more: false,
      next_cursor: null,
      total_count: 3,
      url: PATH,
    });
    expect(errorOf(await shop.get(`${PATH}?order=asc&cursor=${cursor}`))).toBe(
      '400 invalid_field_value cursor',
    );
  });

  test('the export has the plain fields of the customers that the query finds', async () => {
    const shop = await api.merchant();
    await bought(shop, { ...ADA, customerName: '=1+1' });
    await opened(shop, { customerEmail: 'bob@example.com' });
    const [bob] = await found(shop);

    const [header, ...rows] = await csvOf(shop);

    expect(header).toBe(
      'object,id,mode,email,name,wallet_address,checkouts,completed_checkouts,first_purchase_at,last_purchase_at,created_at,updated_at',
    );
    expect(rows[0]).toBe(
      `customer,${bob?.id},test,bob@example.com,,,1,0,,,${bob?.created_at},${bob?.updated_at}`,
    );
    expect(rows[1]).toContain(",Ada@Example.com,'=1+1,");
    expect(await csvOf(shop, '?paid=true')).toEqual([header, rows[1]]);
    expect(await csvOf(shop, '?query=nobody@example.com')).toEqual([header]);
  });

  test('those of another shop and of the other mode are not found', async () => {
    const shop = await api.merchant();
    await bought(shop, ADA);
    const { id } = await only(shop);
    const others: ApiClient[] = [await api.merchant(), await shop.withKey({ mode: 'live' })];

    for (const other of others) {
      expect(await found(other)).toEqual([]);
      expect(errorOf(await other.get(`${PATH}/${text(id)}`))).toBe('404 resource_not_found');
      expect(errorOf(await other.delete(`${PATH}/${text(id)}`))).toBe('404 resource_not_found');
    }
    expect((await only(shop)).id).toBe(id);
  });

  test('reading needs the permission read, erasing admin', async () => {
    const shop: Merchant = await api.merchant();
    await bought(shop, ADA);
    const { id } = await only(shop);
    const path = `${PATH}/${text(id)}`;
    const reader = await shop.withKey({ permission: 'read' });
    const writer = await shop.withKey({ permission: 'write' });

    expect([(await reader.get(path)).status, (await reader.get(PATH)).status]).toEqual([200, 200]);
    expect(errorOf(await writer.delete(path))).toBe('403 insufficient_permissions');
    expect((await shop.delete(path)).status).toBe(200);
  });
});
