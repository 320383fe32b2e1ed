import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { rowsOf } from '#db/query.ts';
import { record } from '../../lab/json.ts';
import { eachDatabase } from '../../support/databases.ts';
import { errorOf, type Merchant, type PaymentsApi, startPaymentsApi } from '../../support/payments-api.ts';
import { dataOf, listOf, newWebhook, WEBHOOKS } from '../../support/webhooks-api.ts';

const URL = 'https://books.example/hooks/payments';
const EVENTS = ['payment.completed', 'checkout.completed'];
const DAY_S = 86_400;

eachDatabase('webhooks', databases => {
  let api: PaymentsApi;
  let shop: Merchant;
  beforeAll(async () => {
    api = await startPaymentsApi(await databases.create('payments'));
  });
  afterAll(() => api[Symbol.asyncDispose]());
  beforeEach(async () => {
    shop = await api.merchant();
  });
  const isoIn = (ms: number) => new Date(api.clock.now() + ms).toISOString();

  describe('are created', () => {
    test('active, with zero counts and a secret that no other answer shows', async () => {
      const answer = await shop.post(WEBHOOKS, { url: URL, events: EVENTS, description: 'Order service' });

      const { secret, ...webhook } = dataOf(answer);
      expect(answer.status).toBe(201);
      expect(record(answer.body).success).toBe(true);
      expect(secret).toMatch(/^whsec_[0-9A-Za-z+/]{43}=$/);
      expect(webhook).toEqual({
        object: 'webhook',
        id: expect.stringMatching(/^wh_[0-9A-Za-z]{24}$/),
        mode: 'test',
        url: URL,
        events: EVENTS,
        description: 'Order service',
        store_responses: false,
        is_active: true,
        disabled_reason: null,
        disabled_at: null,
        success_count: 0,
        failure_count: 0,
        last_triggered_at: null,
        previous_secret_expires_at: null,
        created_at: isoIn(0),
        updated_at: isoIn(0),
      });
      expect(dataOf(await shop.get(`${WEBHOOKS}/${webhook.id}`))).toEqual(webhook);
      expect(listOf(await shop.get(WEBHOOKS))).toEqual([webhook]);
      expect(dataOf(await shop.patch(`${WEBHOOKS}/${webhook.id}`, { description: null }))).toEqual({
        ...webhook,
        description: null,
      });
    });

    test('with a secret that is stored encrypted', async () => {
      const { secret } = await newWebhook(shop, { url: URL });

      const kept = JSON.stringify(await rowsOf(api.db, 'select * from webhooks'));
      expect(kept).toContain(URL);
      expect(kept).not.toContain(secret);
      expect(kept).not.toContain(secret.slice('whsec_'.length));
    });

    test('once per idempotency key, and a repetition shows the secret again', async () => {
      const create = () => shop.post(WEBHOOKS, { url: URL, events: EVENTS }, { 'Idempotency-Key': 'a' });

      const [first, again] = [await create(), await create()];

      expect(again.body).toEqual(first.body);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expect(listOf(await shop.get(WEBHOOKS))).toHaveLength(1);
    });

    test('more than once for one address, and for every event with *', async () => {
      await newWebhook(shop, { url: URL });
      const { data } = await newWebhook(shop, { url: URL, events: ['*'] });

      expect(data).toMatchObject({ url: URL, events: ['*'], description: null });
    });

    test('without repeated events', async () => {
      const { data } = await newWebhook(shop, { url: URL, events: [...EVENTS, ...EVENTS] });

      expect(data.events).toEqual(EVENTS);
    });

    test.each([
      [{ events: EVENTS }, 'missing_required_field url'],
      [{ url: URL }, 'missing_required_field events'],
      [{ url: URL, events: [] }, 'invalid_field_value events'],
      [{ url: URL, events: ['*', 'payment.failed'] }, 'invalid_field_value events'],
      [{ url: URL, events: ['test.ping'] }, 'invalid_field_value events.0'],
      [{ url: URL, events: ['payment.maybe'] }, 'invalid_field_value events.0'],
      [{ url: `https://books.example/${'x'.repeat(2048)}`, events: EVENTS }, 'invalid_field_value url'],
      [{ url: 'books.example', events: EVENTS }, 'invalid_field_value url'],
      [{ url: URL, events: EVENTS, description: 'x'.repeat(501) }, 'invalid_field_value description'],
    ])('but not from %j', async (body, error) => {
      expect(errorOf(await shop.post(WEBHOOKS, body))).toBe(`400 ${error}`);
      expect(listOf(await shop.get(WEBHOOKS))).toEqual([]);
    });

    test('up to 20 per organization and mode, even when many are created at once', async () => {
      const live = await shop.withKey({ mode: 'live' });
      const create = () => shop.post(WEBHOOKS, { url: URL, events: EVENTS });

      const answers = await Promise.all(Array.from({ length: 24 }, create));

      const refused = answers.filter(({ status }) => status !== 201);
      expect(refused.map(errorOf)).toEqual(Array.from({ length: 4 }, () => '400 invalid_field_value'));
      expect((await live.post(WEBHOOKS, { url: URL, events: EVENTS })).status).toBe(201);
      const [one] = listOf(await shop.get(WEBHOOKS));
      await shop.delete(`${WEBHOOKS}/${one?.id}`);
      expect((await create()).status).toBe(201);
      expect(errorOf(await create())).toBe('400 invalid_field_value');
    });
  });

  test('are listed newest first, by page and limit, for the key’s mode only, with has_more', async () => {
    const live = await shop.withKey({ mode: 'live' });
    await newWebhook(live, { url: URL });
    const ids: unknown[] = [];
    for (const name of ['a', 'b', 'c']) {
      api.clock.advance(1);
      ids.unshift((await newWebhook(shop, { url: URL, description: name })).id);
    }

    const pages = [];
    for (const page of [1, 2, 3]) pages.push(await shop.get(`${WEBHOOKS}?limit=2&page=${page}`));

    expect(pages.map(page => listOf(page).map(({ id }) => id))).toEqual([ids.slice(0, 2), ids.slice(2), []]);
    expect(pages.map(({ body }) => body)).toMatchObject([
      { has_more: true, total_count: 3 },
      { has_more: false, total_count: 3 },
      { has_more: false, total_count: 3 },
    ]);
    expect(listOf(await live.get(WEBHOOKS))).toHaveLength(1);
    expect(errorOf(await shop.get(`${WEBHOOKS}?limit=101`))).toBe('400 invalid_field_value limit');
  });

  describe('are changed', () => {
    test('in the given fields only', async () => {
      const { path, data } = await newWebhook(shop, { url: URL, description: 'Old' });
      const { secret, ...before } = data;
      api.clock.advance(1_000);

      const changes = { url: 'https://till.example/hook', events: ['*'], is_active: false };
      const changed = dataOf(await shop.patch(path, changes));

      expect(changed).toEqual({ ...before, ...changes, updated_at: isoIn(0) });
      expect(dataOf(await shop.get(path))).toEqual(changed);
    });

    test.each([
      [{}, 'no_updates_provided'],
      [{ colour: 'blue' }, 'no_updates_provided'],
      [{ events: ['*', 'payment.failed'] }, 'invalid_field_value events'],
      [{ events: [] }, 'invalid_field_value events'],
      [{ url: 'https://10.0.0.1/' }, 'invalid_field_value url'],
      [{ url: null }, 'invalid_field_value url'],
      [{ is_active: 'yes' }, 'invalid_field_value is_active'],
    ])('but not by %j', async (body, error) => {
      const { path } = await newWebhook(shop, { url: URL });

      expect(errorOf(await shop.patch(path, body))).toBe(`400 ${error}`);
      expect(dataOf(await shop.get(path)).url).toBe(URL);
    });
  });

  test('are deleted once', async () => {
    const { path, id } = await newWebhook(shop, { url: URL });

    const answer = await shop.delete(path);

    expect([answer.status, dataOf(answer)]).toEqual([200, { object: 'webhook', id, deleted: true }]);
    expect((await shop.get(path)).status).toBe(404);
    expect((await shop.delete(path)).status).toBe(404);
    expect(listOf(await shop.get(WEBHOOKS))).toEqual([]);
  });

  describe('get a new secret', () => {
    const rotate = (path: string, grace?: number) =>
      shop.post(`${path}/rotate-secret`, grace === undefined ? undefined : { grace_period_seconds: grace });

    test('and keep the old one for a day by default', async () => {
      const { path, secret } = await newWebhook(shop, { url: URL });

      const answer = await rotate(path);

      const { secret: next, ...webhook } = dataOf(answer);
      expect(answer.status).toBe(200);
      expect(next).toMatch(/^whsec_/);
      expect(next).not.toBe(secret);
      expect(webhook.previous_secret_expires_at).toBe(isoIn(DAY_S * 1000));
      expect(dataOf(await shop.get(path))).toEqual(webhook);
      api.clock.advance(DAY_S * 1000 - 1);
      expect(dataOf(await shop.get(path)).previous_secret_expires_at).toBe(isoIn(1));
      api.clock.advance(1);
      expect(dataOf(await shop.get(path)).previous_secret_expires_at).toBeNull();
    });

    test('but not while the old one still signs, unless every old one ends at once', async () => {
      const { path } = await newWebhook(shop, { url: URL });
      await rotate(path, 60);

      expect(errorOf(await rotate(path, 60))).toBe('400 invalid_status_transition');
      const ended = await rotate(path, 0);
      expect(dataOf(ended).previous_secret_expires_at).toBeNull();
      expect((await rotate(path, 60)).status).toBe(200);
      api.clock.advance(60_000);
      expect((await rotate(path, 60)).status).toBe(200);
    });

    test('with at most 7 days of grace', async () => {
      const { path } = await newWebhook(shop, { url: URL });

      expect(errorOf(await rotate(path, 604_801))).toBe('400 invalid_field_value grace_period_seconds');
      expect(errorOf(await rotate(path, -1))).toBe('400 invalid_field_value grace_period_seconds');
      expect((await rotate(path, 604_800)).status).toBe(200);
    });

    test('once per idempotency key', async () => {
      const { path } = await newWebhook(shop, { url: URL });
      const send = () =>
        shop.post(`${path}/rotate-secret`, { grace_period_seconds: 60 }, { 'Idempotency-Key': 'r' });

      const [first, again] = [await send(), await send()];

      expect([first.status, again.status]).toEqual([200, 200]);
      expect(again.body).toEqual(first.body);
    });
  });
});
