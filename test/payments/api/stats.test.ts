import { expect } from 'vitest';
import { retentionWorker } from '#payments/retention.ts';
import { list, record, text } from '../../lab/json.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import {
  type ApiClient,
  errorOf,
  type Merchant,
  masked,
  PLACE,
  TEST_CHAIN,
  TOKEN,
} from '../../support/payments-api.ts';

const OVERVIEW = '/api/v1/analytics/overview';
const SESSIONS = '/api/v1/checkout-sessions';
const STATS = '/api/v1/transactions/stats';
const COIN = `0x${'0'.repeat(40)}`;
const DAY = 24 * 60 * 60 * 1000;
const HALF = 2n ** 255n;

eachPaymentsApi('figures', test => {
  /** Opens a session and ends it; returns the amounts paid. */
  async function session(shop: Merchant, terms: object, outcome?: string): Promise<bigint[]> {
    const opened = await shop.post(SESSIONS, terms);
    if (opened.status !== 201) throw new Error(JSON.stringify(opened.body));
    const id = text(record(opened.body).id);
    if (outcome === 'expired') await shop.post(`${SESSIONS}/${id}/expire`);
    else if (outcome !== undefined) await shop.post(`/api/v1/test/sessions/${id}/simulate`, { outcome });
    const paid = await shop.get(`/api/v1/transactions?session_id=${id}&status=completed`);
    return list(record(paid.body).data).map(one => BigInt(text(record(one).amount)));
  }
  const read = async (client: ApiClient, path: string) => record((await client.get(path)).body);
  const sum = (amounts: readonly bigint[]) => String(amounts.reduce((total, one) => total + one, 0n));
  const counts = (active: number, completed: number, expired: number) => ({
    total: active + completed + expired,
    active,
    completed,
    expired,
    conversion_rate:
      completed + expired === 0 ? null : Number((completed / (completed + expired)).toFixed(4)),
  });
  const usdc = { chain_id: TEST_CHAIN, token_address: TOKEN, symbol: 'USDC', decimals: 6 };

  test('of an organization without sessions are zero on every day', async ({ api }) => {
    const shop = await api.merchant();

    const { from, to, by_day, ...all } = await read(shop, `${OVERVIEW}?period=7d`);

    const today = new Date(api.clock.now()).toISOString().slice(0, 10);
    expect(all).toEqual({
      object: 'analytics_overview',
      mode: 'test',
      period: '7d',
      sessions: counts(0, 0, 0),
      transactions: { total: 0, pending: 0, confirming: 0, completed: 0, failed: 0 },
      volume: [],
      refunded: [],
      by_token: [],
      by_chain: [],
    });
    const days = list(by_day).map(record);
    expect([days.length, days[6]?.date, days[6]?.volume]).toEqual([7, today, []]);
    expect(from).toBe(`${text(days[0]?.date)}T00:00:00.000Z`);
    expect(to).toBe(new Date(Date.parse(`${today}T00:00:00Z`) + DAY).toISOString());
    expect(await read(shop, `${OVERVIEW}?period=all`)).toMatchObject({ from: null, by_day: [] });
    expect(list((await read(shop, OVERVIEW)).by_day)).toHaveLength(30);
  });

  test('are exact beyond 256 bits, and separate for each token', async ({ api }) => {
    const shop = await api.merchant();
    const large = { ...PLACE, amount: String(HALF) };
    const coins = { ...PLACE, token_address: COIN, amount: '1000000000000000001' };
    const paid = [
      ...(await session(shop, large, 'completed')),
      ...(await session(shop, large, 'completed')),
      ...(await session(shop, large, 'completed')),
    ];
    const paidCoins = await session(shop, coins, 'completed');
    await session(shop, coins, 'expired');
    await session(shop, coins, 'failed');

    const overview = await read(shop, OVERVIEW);

    const volume = [
      { ...usdc, token_address: COIN, symbol: 'ETH', decimals: 18, amount: sum(paidCoins), transactions: 1 },
      { ...usdc, amount: sum(paid), transactions: 3 },
    ];
    const transactions = { total: 5, pending: 0, confirming: 0, completed: 4, failed: 1 };
    expect(BigInt(sum(paid)) > 2n ** 256n).toBe(true);
    expect(overview).toMatchObject({ sessions: { total: 6, completed: 4 }, transactions, volume });
    expect(overview.by_chain).toMatchObject([{ chain_id: TEST_CHAIN, transactions, volume }]);
    expect(overview.by_token).toMatchObject([
      { token_address: COIN, sessions: { total: 3, completed: 1 }, volume: volume[0] },
      { token_address: TOKEN, sessions: counts(0, 3, 0), volume: volume[1] },
    ]);
    expect(record(list(overview.by_day).at(-1))).toMatchObject({ transactions, volume });
  });

  test('by day agree with the lists of that day, and periods begin at the start of a day', async ({
    api,
  }) => {
    const shop = await api.merchant();
    for (const outcome of ['completed', 'expired', undefined, 'completed']) {
      await session(shop, { ...PLACE, amount: '1000' }, outcome);
      api.clock.advance(3 * DAY);
    }

    const overview = await read(shop, `${OVERVIEW}?period=90d`);

    for (const day of list(overview.by_day).slice(-14).map(record)) {
      const start = Date.parse(`${text(day.date)}T00:00:00Z`);
      const within = `from=${new Date(start).toISOString()}&to=${new Date(start + DAY).toISOString()}`;
      const sessions = await read(shop, `${SESSIONS}?${within}`);
      const stats = await read(shop, `${STATS}?${within}`);
      expect([day.date, record(day.sessions).total]).toEqual([day.date, sessions.total_count]);
      expect([day.date, day.transactions, day.volume]).toEqual([day.date, stats.transactions, stats.volume]);
    }
    expect(list(overview.by_day)).toHaveLength(90);
    expect(overview.sessions).toEqual(counts(1, 2, 1));
    expect(record((await read(shop, `${OVERVIEW}?period=7d`)).sessions).total).toBe(2);
    expect(list((await read(shop, `${OVERVIEW}?period=all`)).by_day)).toHaveLength(13);
  });

  test('of a link count its own sessions only', async ({ api }) => {
    const shop = await api.merchant();
    const link = record(
      (await shop.post('/api/v1/payment-links', { ...PLACE, name: 'A', amount: '9' })).body,
    );
    const paid = await session(shop, { payment_link_id: link.id }, 'completed');
    await session(shop, { payment_link_id: link.id }, 'expired');
    await session(shop, { ...PLACE, amount: '50' }, 'completed');
    const path = `/api/v1/payment-links/${text(link.id)}/stats`;

    const stats = await read(shop, `${path}?period=all`);

    expect(stats).toMatchObject({
      object: 'payment_link_stats',
      payment_link_id: link.id,
      sessions: counts(0, 1, 1),
      transactions: { total: 1, completed: 1 },
      volume: [{ ...usdc, amount: sum(paid), transactions: 1 }],
      by_day: [{ sessions: counts(0, 1, 1) }],
    });
  });

  test('of another owner’s link answer exactly like those of a missing link', async ({ api }) => {
    const shop = await api.merchant();
    const other = await api.merchant();
    const { body } = await other.post('/api/v1/payment-links', { ...PLACE, name: 'A', amount: '9' });
    const id = text(record(body).id);
    const missing = `pl_${'0'.repeat(24)}`;

    const hidden = await shop.get(`/api/v1/payment-links/${id}/stats`);
    const unknown = await shop.get(`/api/v1/payment-links/${missing}/stats`);

    expect(hidden.status).toBe(404);
    expect(masked(hidden, id)).toEqual(masked(unknown, missing));
  });

  test('of transactions follow the filters and include the last 24 hours', async ({ api }) => {
    const shop = await api.merchant();
    const old = await session(shop, { ...PLACE, amount: '1000' }, 'completed');
    api.clock.advance(DAY + 1);
    const middle = api.clock.now();
    const fresh = await session(shop, { ...PLACE, amount: '3000' }, 'completed');
    await session(shop, { ...PLACE, amount: '4000' }, 'failed');

    const all = await read(shop, STATS);
    const before = await read(shop, `${STATS}?to=${new Date(middle).toISOString()}`);
    const elsewhere = await read(shop, `${STATS}?chain_id=1`);

    const recent = { transactions: { total: 2, completed: 1, failed: 1 }, volume: [{ amount: sum(fresh) }] };
    expect(all).toMatchObject({ transactions: { total: 3, completed: 2, failed: 1 }, last_24_hours: recent });
    expect(all.volume).toEqual([{ ...usdc, amount: sum([...old, ...fresh]), transactions: 2 }]);
    expect(before).toMatchObject({
      transactions: { total: 1 },
      volume: [{ amount: sum(old) }],
      last_24_hours: { transactions: { total: 0 }, volume: [] },
    });
    expect(elsewhere).toMatchObject({ transactions: { total: 0 }, volume: [] });
    expect(await read(shop, `${STATS}?payment_link_id=pl_x`)).toMatchObject({ transactions: { total: 0 } });
    expect(await read(shop, `${STATS}?session_id=cs_x`)).toMatchObject({ transactions: { total: 0 } });
  });

  test('still count unpaid sessions that retention removed', async ({ api }) => {
    const shop = await api.merchant();
    const link = record(
      (await shop.post('/api/v1/payment-links', { ...PLACE, name: 'A', amount: '9' })).body,
    );
    await session(shop, { payment_link_id: link.id }, 'completed');
    for (const _ of [1, 2, 3]) await session(shop, { payment_link_id: link.id }, 'expired');
    await session(shop, { ...PLACE, amount: '50' }, 'expired');
    const paths = [`${OVERVIEW}?period=90d`, `/api/v1/payment-links/${text(link.id)}/stats?period=90d`];
    api.clock.advance(31 * DAY);
    const before = await Promise.all(paths.map(path => read(shop, path)));

    await retentionWorker(api).runOnce(AbortSignal.timeout(PATIENCE_MS));

    const after = await Promise.all(paths.map(path => read(shop, path)));
    expect(record((await shop.get(SESSIONS)).body).total_count).toBe(1);
    expect(before.map(({ sessions }) => sessions)).toEqual([counts(0, 1, 4), counts(0, 1, 3)]);
    expect(after).toEqual(before);
  });

  test('are those of the caller’s organization and mode only', async ({ api }) => {
    const shop = await api.merchant();
    await session(shop, { ...PLACE, amount: '1000' }, 'completed');
    const live = await shop.withKey({ mode: 'live' });
    const other = await api.merchant();

    for (const client of [live, other]) {
      expect(await read(client, OVERVIEW)).toMatchObject({ sessions: { total: 0 }, volume: [] });
      expect(await read(client, STATS)).toMatchObject({ transactions: { total: 0 } });
    }
    expect(errorOf(await shop.get(`${OVERVIEW}?period=1y`))).toBe('400 invalid_field_value period');
  });
});
