import { expect } from 'vitest';
import { record, text } from '../../lab/json.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import { errorOf, idsOf, PLACE } from '../../support/payments-api.ts';
import { newWebhook, pay } from '../../support/webhooks-api.ts';

const DAY = 24 * 60 * 60 * 1000;

eachPaymentsApi('lists between two times', test => {
  test('include what was created at the first, and exclude what was created at the second', async ({
    api,
  }) => {
    const shop = await api.merchant();
    const hook = await newWebhook(shop, { url: 'https://receiver.example/hook' });
    const link = record(
      (await shop.post('/api/v1/payment-links', { ...PLACE, name: 'A', amount: '9' })).body,
    );
    const days: string[] = [];
    for (const _ of [1, 2, 3]) {
      api.clock.advance(DAY);
      const session = record(
        (await shop.post('/api/v1/checkout-sessions', { payment_link_id: link.id })).body,
      );
      await shop.post(`/api/v1/test/sessions/${text(session.id)}/simulate`, { outcome: 'completed' });
      await shop.post(`${hook.path}/test`);
      days.push(new Date(api.clock.now()).toISOString());
    }
    const [first = '', second = '', third = ''] = days;

    const paths = [
      '/api/v1/checkout-sessions',
      `/api/v1/payment-links/${text(link.id)}/sessions`,
      '/api/v1/transactions',
      '/api/v1/events?type=payment.completed',
      `${hook.path}/deliveries`,
    ];
    for (const path of paths) {
      const all = idsOf(await shop.get(path));
      const within = async (query: string) =>
        idsOf(await shop.get(`${path}${path.includes('?') ? '&' : '?'}${query}`));

      expect([path, all.length]).toEqual([path, 3]);
      expect([path, await within(`from=${second}`)]).toEqual([path, all.slice(0, 2)]);
      expect([path, await within(`to=${third}`)]).toEqual([path, all.slice(1)]);
      expect([path, await within(`from=${first}&to=${third}`)]).toEqual([path, all.slice(1)]);
      expect([path, await within(`from=${third}&to=${first}`)]).toEqual([path, []]);
      expect([path, errorOf(await shop.get(`${path.split('?')[0]}?from=yesterday`))]).toEqual([
        path,
        '400 invalid_field_value from',
      ]);
    }
  });

  test('have no event older than ninety days, however early they begin', async ({ api }) => {
    const shop = await api.merchant();
    await pay(shop);
    const [id] = idsOf(await shop.get('/api/v1/events'));
    const path = `/api/v1/events/${id}`;

    api.clock.advance(90 * DAY);
    const kept = [await shop.get('/api/v1/events?from=2000-01-01T00:00:00Z'), await shop.get(path)] as const;
    api.clock.advance(1);
    const gone = [await shop.get('/api/v1/events?from=2000-01-01T00:00:00Z'), await shop.get(path)] as const;

    expect([idsOf(kept[0]).length, kept[1].status]).toEqual([2, 200]);
    expect([idsOf(gone[0]).length, errorOf(gone[1])]).toEqual([0, '404 resource_not_found']);
  });
});
