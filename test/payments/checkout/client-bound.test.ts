import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowsOf } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import type { PaymentLink } from '#payments/model/payment-link.ts';
import { sessionStore } from '#payments/sessions/session-store.ts';
import { linkStore } from '#payments/store/link-store.ts';
import { record, text } from '../../lab/json.ts';
import { aLink } from '../../lab/payments-records.ts';
import { eachDatabase } from '../../support/databases.ts';
import {
  errorOf,
  LIFETIME_MS,
  type Merchant,
  type PaymentsApi,
  someHash,
  startPaymentsApi,
} from '../../support/payments-api.ts';

const BOUND = 20;
const WALLET = `0x${'aa'.repeat(20)}`;

eachDatabase('open checkouts of one link and client address', databases => {
  let api: PaymentsApi;
  let merchant: Merchant;
  let addresses = 0;
  beforeAll(async () => {
    api = await startPaymentsApi(await databases.create('payments'));
    merchant = await api.merchant();
  });
  afterAll(() => api[Symbol.asyncDispose]());

  async function linked(amount: bigint): Promise<PaymentLink> {
    const link = aLink(merchant.owner, { amount, recipientAddress: `0x${someHash().slice(-40)}` });
    await linkStore(api.db).insert(link);
    return link;
  }
  const newAddress = () => `203.0.113.${++addresses}`;
  const start = ({ shortCode }: PaymentLink, from?: string) =>
    api.payer.post(
      `/api/v1/pay/links/${shortCode}/sessions`,
      {},
      from === undefined ? {} : { 'X-Forwarded-For': from },
    );
  async function filled(link: PaymentLink, from: string) {
    const answers = [];
    for (let index = 0; index < BOUND; index++) answers.push(await start(link, from));
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(BOUND).fill(201));
    return answers.map(({ body }) => record(body));
  }

  test('are limited to twenty, with a time to retry, and other clients still get exact amounts', async () => {
    const link = await linked(1_000_000n);
    const from = newAddress();
    await filled(link, from);
    api.clock.advance(60_000);

    const refused = await start(link, from);
    const another = await start(link, newAddress());

    expect(refused.status).toBe(429);
    expect(errorOf(refused)).toBe('429 rate_limit_exceeded');
    expect(refused.headers.get('retry-after')).toBe(String((LIFETIME_MS - 60_000) / 1000));
    expect(another.status).toBe(201);
    expect(record(another.body)).toMatchObject({ wallet_only: false });
  });

  test('are counted per link, and no longer once they end', async () => {
    const [link, other] = [await linked(1_000_000n), await linked(1_000_000n)];
    const from = newAddress();
    await filled(link, from);

    const elsewhere = await start(other, from);
    api.clock.advance(LIFETIME_MS);

    expect(elsewhere.status).toBe(201);
    expect((await start(link, from)).status).toBe(201);
  });

  test('are not counted once a wallet has signed', async () => {
    const link = await linked(1_000_000n);
    const from = newAddress();
    const [first] = await filled(link, from);
    await transaction(api.db, handle =>
      sessionStore(handle, api.seals).bindWallet(text(first?.id), WALLET, api.clock.now()),
    );

    expect((await start(link, from)).status).toBe(201);
    expect((await start(link, from)).status).toBe(429);
  });

  test('are counted together for the addresses of one IPv6 client', async () => {
    const link = await linked(1_000_000n);
    await filled(link, '2001:db8:1:2::1');

    expect((await start(link, '2001:db8:1:2:ffff::9')).status).toBe(429);
    expect((await start(link, '2001:db8:1:3::1')).status).toBe(201);
  });

  test('are not counted for a loopback client or a merchant', async () => {
    const link = await linked(2_000n);
    const own = { payment_link_id: link.id };

    const answers = [];
    for (let index = 0; index <= BOUND; index++) {
      answers.push(await start(link), await merchant.post('/api/v1/checkout-sessions', own));
    }

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(answers.map(({ body }) => record(body).payment_uri)).not.toContain(null);
  });

  test('leave no address in the database', async () => {
    const link = await linked(1_000_000n);
    const from = newAddress();
    await start(link, from);
    await start(await linked(1_000_000n), from);

    const rows = await rowsOf<{ client_hash: string }>(
      api.db,
      'select * from checkout_sessions where client_hash is not null order by created_at desc, id',
    );

    expect(JSON.stringify(rows)).not.toContain(from);
    expect(new Set(rows.map(row => row.client_hash)).size).toBeGreaterThan(1);
  });
});
