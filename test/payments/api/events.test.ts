import { afterAll, beforeAll, expect, test } from 'vitest';
import { eachDatabase } from '../../support/databases.ts';
import { list, record, text } from '../../support/json.ts';
import {
  errorOf,
  idsOf,
  type Merchant,
  type PaymentsApi,
  RECIPIENT,
  startPaymentsApi,
  TEST_CHAIN,
  TOKEN,
} from '../../support/payments-api.ts';

const PATH = '/api/v1/events';
const DAY = 24 * 60 * 60 * 1000;

eachDatabase('events', databases => {
  let api: PaymentsApi;
  beforeAll(async () => {
    api = await startPaymentsApi(await databases.create());
  });
  afterAll(() => api[Symbol.asyncDispose]());

  /** A session of the merchant after a simulated payment. */
  async function simulated(merchant: Merchant, outcome: string): Promise<string> {
    const { body } = await merchant.post('/api/v1/checkout-sessions', {
      token_address: TOKEN,
      chain_id: TEST_CHAIN,
      recipient_address: RECIPIENT,
      amount: '1000',
      clientReferenceId: 'order-1',
      customerEmail: 'ada@example.com',
    });
    const id = text(record(body).id);
    const { status } = await merchant.post(`/api/v1/test/sessions/${id}/simulate`, { outcome });
    expect(status).toBe(200);
    return id;
  }
  const typesOf = ({ body }: { body: unknown }) => list(record(body).data).map(one => record(one).event);

  test('are told newest first, those of one moment in the reverse of how they happened', async () => {
    const merchant = await api.merchant();
    const id = await simulated(merchant, 'completed');
    api.clock.advance(1000);
    await simulated(merchant, 'failed');

    const answer = await merchant.get(PATH);

    expect(typesOf(answer)).toEqual(['payment.failed', 'checkout.completed', 'payment.completed']);
    expect(answer.body).toMatchObject({ object: 'list', total_count: 3, has_more: false, url: PATH });
    expect(list(record(answer.body).data)[1]).toMatchObject({
      object: 'event',
      mode: 'test',
      created_at: new Date(api.clock.now() - 1000).toISOString(),
      data: { checkoutSession: { id, clientReferenceId: 'order-1', customerEmail: 'ada@example.com' } },
    });
  });

  test('are filtered by type and come in pages', async () => {
    const merchant = await api.merchant();
    await simulated(merchant, 'reorg');

    expect(typesOf(await merchant.get(`${PATH}?type=payment.completed`))).toEqual(['payment.completed']);
    expect(typesOf(await merchant.get(`${PATH}?type=checkout.expired`))).toEqual([]);
    expect(typesOf(await merchant.get(`${PATH}?limit=1&page=2`))).toHaveLength(1);
    expect(errorOf(await merchant.get(`${PATH}?type=test.ping`))).toBe('400 invalid_field_value type');
  });

  test('go back 90 days', async () => {
    const merchant = await api.merchant();
    await simulated(merchant, 'failed');

    api.clock.advance(90 * DAY);
    expect(idsOf(await merchant.get(PATH))).toHaveLength(1);

    api.clock.advance(1);
    expect(idsOf(await merchant.get(PATH))).toEqual([]);
  });

  test('are those of the caller’s organization and mode alone', async () => {
    const merchant = await api.merchant();
    await simulated(merchant, 'completed');
    const live = await merchant.withKey({ mode: 'live' });
    const others = await api.merchant();

    expect(idsOf(await live.get(PATH))).toEqual([]);
    expect(idsOf(await others.get(PATH))).toEqual([]);
  });
});
