import { expect, test } from 'vitest';
import { migrate } from '#db/migrate.ts';
import { openDatabase } from '#db/open.ts';
import { rowsOf } from '#db/query.ts';
import { DAY_MS } from '#lib/clock.ts';
import { retentionWorker } from '#payments/retention.ts';
import { PAYMENTS_MIGRATIONS } from '#payments/store/migrations/payments-migrations.ts';
import { record, text } from '../../lab/json.ts';
import { bothDatabases } from '../../support/databases.ts';
import {
  type ApiClient,
  errorOf,
  type PaymentsApi,
  PLACE,
  startPaymentsApi,
} from '../../support/payments-api.ts';
import { png } from './picture-bytes.ts';

const IMAGES = '/api/v1/images';
const LINKS = '/api/v1/payment-links';

bothDatabases('uploaded images', databases => {
  const upload = async (client: ApiClient, bytes: Buffer) =>
    record((await client.post(IMAGES, { data: bytes.toString('base64') })).body);
  const tidy = async (api: PaymentsApi) => {
    while ((await retentionWorker(api).runOnce(new AbortController().signal)) > 0);
  };

  test('are removed a day after the upload if unnamed, and 30 days after they were last named', async () => {
    await using api = await startPaymentsApi(await databases.create('payments'));
    const shop = await api.merchant();
    const isKept = async ({ id }: Record<string, unknown>) =>
      (
        await api
          .db('images')
          .where({ id: text(id) })
          .select('id')
      ).length === 1;
    const [unnamed, replaced, kept, again] = [
      await upload(shop, png(1, 1)),
      await upload(shop, png(1, 2)),
      await upload(shop, png(1, 3)),
      await upload(shop, png(1, 4)),
    ];
    const items = [{ name: 'Tea', amount: '5', quantity: 1, image_url: kept.url }];
    const terms = { ...PLACE, name: 'Tea', items, image_url: replaced.url };
    const link = record((await shop.post(LINKS, terms)).body);
    const copy = record((await shop.post(`${LINKS}/${text(link.id)}/duplicate`, {})).body);
    await shop.delete(`${LINKS}/${text(copy.id)}`);

    api.clock.advance(DAY_MS - 1);
    await upload(shop, png(1, 4));
    api.clock.advance(2);
    await tidy(api);
    expect(await Promise.all([unnamed, replaced, kept, again].map(isKept))).toEqual([
      false,
      true,
      true,
      true,
    ]);

    api.clock.advance(60 * DAY_MS);
    await shop.patch(`${LINKS}/${text(link.id)}`, { image_url: null });
    api.clock.advance(30 * DAY_MS);
    await tidy(api);
    expect(await Promise.all([replaced, kept, again].map(isKept))).toEqual([true, true, false]);

    api.clock.advance(1);
    await tidy(api);
    expect(await Promise.all([replaced, kept].map(isKept))).toEqual([false, true]);
  });

  test.each([
    ['in number', { count: 500, size: 1 }],
    ['in size', { count: 100, size: 2 ** 20 }],
  ])('are limited %s for each organization and mode', async (_, { count, size }) => {
    await using api = await startPaymentsApi(await databases.create('payments'));
    const shop = await api.merchant();
    const live = await shop.withKey({ mode: 'live' });
    const first = await upload(shop, png(1, 1));
    const [row] = await rowsOf<object>(api.db, 'select * from images');
    const others = Array.from({ length: count - 1 }, (_none, index) => ({
      ...row,
      id: `img_${String(index).padStart(24, '0')}`,
      digest: Buffer.from(String(index)),
      size,
    }));
    await api.db.batchInsert('images', others, 50);
    await api
      .db('images')
      .where({ id: text(first.id) })
      .update({ size });

    const beyond = await shop.post(IMAGES, { data: png(1, 2).toString('base64') });

    expect(errorOf(beyond)).toBe('400 invalid_status_transition');
    expect(await upload(shop, png(1, 1))).toMatchObject({ id: first.id });
    expect(await upload(live, png(1, 2))).toMatchObject({ mode: 'live' });
  });

  test('can be named by the links of a database from before them', async () => {
    const options = await databases.create();
    const old = openDatabase(options);
    const step = PAYMENTS_MIGRATIONS.findIndex(({ name }) => name === 'images');
    await migrate(old, PAYMENTS_MIGRATIONS.slice(0, step));
    await old.raw(
      `insert into organizations (id, name, tier, created_at) values ('org_1', 'Shop', 'standard', 1)`,
    );
    await old.raw(`insert into organization_settings (organization_id, mode, recipients_locked, origins, updated_at, logo_url)
      values ('org_1', 'test', false, '[]', 1, 'https://books.example/logo.png')`);

    await migrate(old, PAYMENTS_MIGRATIONS);
    await old.destroy();

    await using api = await startPaymentsApi(options);
    const shop = await api.merchant();
    const { url } = await upload(shop, png(1, 1));
    expect((await shop.patch('/api/v1/organization', { logo_url: url })).body).toMatchObject({
      logo_url: url,
    });
    expect(await api.db('organization_settings').where({ organization_id: 'org_1' })).toMatchObject([
      { logo_url: 'https://books.example/logo.png' },
    ]);
  });
});
