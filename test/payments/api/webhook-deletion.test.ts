import { expect, test } from 'vitest';
import { rowsOf } from '#db/query.ts';
import { retentionWorker } from '#payments/retention.ts';
import { deliveryStore } from '#payments/webhooks/store/delivery-store.ts';
import { eachDatabase } from '../../support/databases.ts';
import { startPaymentsApi } from '../../support/payments-api.ts';
import { aDelivery, aWebhook } from '../../support/webhook-records.ts';
import { listOf, newWebhook, WEBHOOKS } from '../../support/webhooks-api.ts';

const DELIVERIES = 1_200;
const never = new AbortController().signal;

eachDatabase('a deleted webhook', databases => {
  test('is gone at once with all its deliveries, whose rows are removed in batches afterwards', async () => {
    await using api = await startPaymentsApi(await databases.create('payments'));
    const shop = await api.merchant();
    const { id, path } = await newWebhook(shop, { url: 'https://books.example/hooks' });
    const kept = await newWebhook(shop, { url: 'https://books.example/others' });
    const deliveriesOf = (webhookId: string, count: number) =>
      Array.from({ length: count }, () => ({
        delivery: aDelivery(aWebhook(shop.owner, { id: webhookId }), { createdAt: api.clock.now() }),
        body: '{}',
      }));
    const rows = [...deliveriesOf(id, DELIVERIES), ...deliveriesOf(kept.id, 3)];
    await deliveryStore(api.db, api.seals).insert(rows);
    const first = rows[0]?.delivery.id;
    const countOf = async (sql: string) => (await rowsOf(api.db, sql, [id])).length;
    const left = async () => [
      await countOf('select id from deliveries where webhook_id = ?'),
      await countOf('select id from webhooks where id = ?'),
    ];

    const answer = await shop.delete(path);
    const afterwards = await left();
    const hidden = await Promise.all([
      shop.get(path),
      shop.get(`${path}/deliveries`),
      shop.get(`${path}/deliveries/${first}`),
      shop.patch(path, { is_active: true }),
      shop.post(`${path}/test`),
      shop.post(`${path}/deliveries/${first}/retry`),
      shop.delete(path),
    ]);
    const listed = listOf(await shop.get(WEBHOOKS));
    const retention = retentionWorker(api);
    const passes: number[] = [];
    do passes.push(await retention.runOnce(never));
    while (passes.at(-1) !== 0);

    expect(answer).toMatchObject({ status: 200, body: { data: { id, deleted: true } } });
    expect(afterwards).toEqual([DELIVERIES, 1]);
    expect(hidden.map(({ status }) => status)).toEqual(hidden.map(() => 404));
    expect(listed.map(one => one.id)).toEqual([kept.id]);
    expect(passes).toEqual([500, 500, 200, 1, 0]);
    expect(await left()).toEqual([0, 0]);
    expect(listOf(await shop.get(`${kept.path}/deliveries`))).toHaveLength(3);
  });
});
