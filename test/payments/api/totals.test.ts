import { formatUnits } from 'viem';
import { expect } from 'vitest';
import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { list, record, text } from '../../lab/json.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import { errorOf, type Merchant, PLACE, TEST_CHAIN, TOKEN } from '../../support/payments-api.ts';

const PATH = '/api/v1/analytics/totals';
const DAY_MS = 86_400_000;
const usdc = { chain_id: TEST_CHAIN, token_address: TOKEN, symbol: 'USDC', decimals: 6 };

eachPaymentsApi('totals per day and month', test => {
  /** Pays a new checkout in a simulation, and returns the amount. */
  async function pay(shop: Merchant): Promise<bigint> {
    const { body } = await shop.post('/api/v1/checkout-sessions', { ...PLACE, amount: '2500000' });
    const id = text(record(body).id);
    await shop.post(`/api/v1/test/sessions/${id}/simulate`, { outcome: 'completed' });
    const paid = await shop.get(`/api/v1/transactions?session_id=${id}`);
    return BigInt(text(record(list(record(paid.body).data)[0]).amount));
  }
  const totals = async (shop: Merchant, query = '') => record((await shop.get(`${PATH}${query}`)).body);
  const tokenTotals = (payments: number, received: bigint): PaymentsSchemas['TokenTotals'] => ({
    ...usdc,
    payments,
    received: String(received),
    refunds: 0,
    refunded: '0',
    fee: '0',
    net: String(received),
  });

  test('list every period up to today, and agree with the list of transactions', async ({ api }) => {
    const shop = await api.merchant();
    const first = await pay(shop);
    const firstDay = new Date(api.clock.now()).toISOString().slice(0, 10);
    api.clock.advance(2 * DAY_MS);
    const others = (await pay(shop)) + (await pay(shop));
    const today = new Date(api.clock.now()).toISOString().slice(0, 10);

    const days = await totals(shop);
    const one = await totals(shop, `?first_day=${today}&last_day=${today}`);
    const months = await totals(shop, '?interval=month&time_zone=America/New_York');

    const periods = list(days.periods).map(record);
    expect(periods).toHaveLength(30);
    expect(periods.filter(({ tokens }) => list(tokens).length > 0)).toEqual([
      expect.objectContaining({ period: firstDay, tokens: [tokenTotals(1, first)] }),
      expect.objectContaining({ period: today, tokens: [tokenTotals(2, others)] }),
    ]);
    expect(days).toMatchObject({ mode: 'test', interval: 'day', time_zone: 'UTC' });
    expect(days.tokens).toEqual([tokenTotals(3, first + others)]);
    expect(one).toMatchObject({
      from: `${today}T00:00:00.000Z`,
      periods: [{ period: today, tokens: [tokenTotals(2, others)] }],
    });
    expect(list(months.periods)).toHaveLength(12);
    expect(months.tokens).toEqual([tokenTotals(3, first + others)]);
    const within = new URLSearchParams({ from: text(one.from), to: text(one.to) });
    expect(record((await shop.get(`/api/v1/transactions?${within}`)).body).total_count).toBe(2);
  });

  test('are exported in whole tokens and in smallest units', async ({ api }) => {
    const shop = await api.merchant();
    const amount = await pay(shop);
    const today = new Date(api.clock.now()).toISOString().slice(0, 10);

    const { status, headers, body } = await shop.get(`${PATH}/export?first_day=${today}&last_day=${today}`);

    const whole = formatUnits(amount, 6);
    const [columns = '', ...rows] = text(body).split('\r\n');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    expect(columns.split(',')).toEqual([
      ...['period', 'from', 'to', 'time_zone', 'chain_id', 'token_address', 'token_symbol', 'token_decimals'],
      ...['payments', 'received', 'received_decimal', 'refunds', 'refunded', 'refunded_decimal'],
      ...['fee', 'net', 'net_decimal'],
    ]);
    const tomorrow = new Date(Date.parse(today) + DAY_MS).toISOString();
    expect(rows).toEqual([
      [
        ...[today, `${today}T00:00:00.000Z`, tomorrow, 'UTC', TEST_CHAIN, TOKEN, 'USDC', 6],
        ...[1, amount, whole, 0, 0, 0, 0, amount, whole],
      ].join(','),
      '',
    ]);
  });

  test('are those of the caller’s organization and mode only', async ({ api }) => {
    const shop = await api.merchant();
    await pay(shop);

    for (const client of [await shop.withKey({ mode: 'live' }), await api.merchant()])
      expect(record((await client.get(PATH)).body).tokens).toEqual([]);
  });

  test.for([
    ['time_zone=Europe/Nowhere', 'time_zone'],
    ['interval=week', 'interval'],
    ['first_day=2026-02-30', 'first_day'],
    ['first_day=2026-02-02&last_day=2026-02-01', 'last_day'],
    ['first_day=2025-01-01&last_day=2026-02-05', 'first_day'],
    ['interval=month&first_day=2016-12-31&last_day=2026-12-01', 'first_day'],
  ])('refuse %s', async ([query, param], { api }) => {
    const shop = await api.merchant();

    for (const path of [PATH, `${PATH}/export`])
      expect(errorOf(await shop.get(`${path}?${query}`))).toBe(`400 invalid_field_value ${param}`);
  });

  test('take 400 days and 120 months', async ({ api }) => {
    const shop = await api.merchant();

    const days = await totals(shop, '?first_day=2025-01-01&last_day=2026-02-04&time_zone=Asia/Kolkata');
    const months = await totals(shop, '?interval=month&first_day=2017-01-31&last_day=2026-12-01');

    expect([list(days.periods).length, list(months.periods).length]).toEqual([400, 120]);
  });
});
