import { expect } from 'vitest';
import { record } from '../../lab/json.ts';
import { RECORD_TIME } from '../../lab/payments-records.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import { errorOf } from '../../support/payments-api.ts';

const PATH = '/api/v1/organization';

eachPaymentsApi('the organization', test => {
  test('is that of the key, and starts unlocked and without origins', async ({ api }) => {
    const shop = await api.merchant();

    const { status, body } = await shop.get(PATH);

    expect(status).toBe(200);
    const time = new Date(RECORD_TIME).toISOString();
    expect(body).toEqual({
      object: 'organization',
      id: shop.owner.organizationId,
      name: shop.name,
      logo_url: null,
      contact_email: null,
      site_url: null,
      terms_url: null,
      mode: 'test',
      default_chain_id: null,
      default_token_address: null,
      default_recipient_address: null,
      payment_tolerance: 0,
      recipients_locked: false,
      origins: [],
      created_at: time,
      updated_at: time,
    });
  });

  test('changes in the given fields only', async ({ api }) => {
    const shop = await api.merchant();
    const origins = [
      'https://shop.example',
      'http://localhost:5173',
      'http://127.0.0.1',
      'http://[::1]:8080',
      'https://a.example:8443',
    ];
    const first = await shop.patch(PATH, { origins: [...origins, 'https://shop.example'] });

    const second = await shop.patch(PATH, { recipients_locked: true });

    expect(first.body).toMatchObject({ origins, recipients_locked: false });
    expect(second.body).toMatchObject({ origins, recipients_locked: true });
    expect((await shop.get(PATH)).body).toEqual(second.body);
    expect(record((await (await api.merchant()).get(PATH)).body).origins).toEqual([]);
  });

  test('has separate settings for each mode, so a test key changes nothing for live money', async ({
    api,
  }) => {
    const shop = await api.merchant('live');
    await shop.patch(PATH, { recipients_locked: true });
    const tester = await shop.withKey({ mode: 'test' });

    await tester.patch(PATH, { origins: ['http://localhost:3000'] });

    expect((await shop.get(PATH)).body).toMatchObject({ mode: 'live', recipients_locked: true, origins: [] });
    expect((await tester.get(PATH)).body).toMatchObject({ mode: 'test', recipients_locked: false });
  });

  test.for([
    'http://shop.example',
    'https://shop.example/',
    'https://shop.example/pay',
    'https://shop.example:443',
    'https://Shop.example',
    'https://user@shop.example',
    'https://*.shop.example',
    'http://127.0.0.256',
    'http://localhost.example',
    'http://localhost:0',
    'https://.',
    'https://shop..example',
    `https://${'a'.repeat(64)}.example`,
    'https://shop.example:0',
    'null',
    '*',
  ])('refuses %s, which no browser sends as an origin of this organization', async (origin, { api }) => {
    const shop = await api.merchant();

    const answer = await shop.patch(PATH, { origins: ['https://shop.example', origin] });

    expect(errorOf(answer)).toBe('400 invalid_field_value origins.1');
  });

  test('takes at most twenty origins', async ({ api }) => {
    const shop = await api.merchant();
    const origins = Array.from({ length: 21 }, (_, index) => `https://shop-${index}.example`);

    expect(errorOf(await shop.patch(PATH, { origins }))).toBe('400 invalid_field_value origins');
    expect((await shop.patch(PATH, { origins: origins.slice(1) })).status).toBe(200);
  });

  test('is changed by admin keys only', async ({ api }) => {
    const shop = await api.merchant();
    const writer = await shop.withKey({ permission: 'write' });

    expect(errorOf(await writer.patch(PATH, { recipients_locked: true }))).toBe(
      '403 insufficient_permissions',
    );
    expect((await writer.get(PATH)).status).toBe(200);
  });
});
