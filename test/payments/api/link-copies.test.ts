import { expect } from 'vitest';
import { list, record, text } from '../../lab/json.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import { errorOf, type Merchant, masked, PLACE, TEST_CHAIN } from '../../support/payments-api.ts';

const LINKS = '/api/v1/payment-links';
const ITEM = { name: 'Notebook', description: null, image_url: null, amount: '10', quantity: 2 };
const TERMS = {
  ...PLACE,
  name: 'Field notebooks',
  description: 'Two of 120 pages',
  amount: '20',
  items: [ITEM],
  theme_color: '#0052ff',
  button_text: 'Order',
  return_url: 'https://books.example/thanks',
  shipping_options: [{ id: 'post', name: 'Post', amount: '1', estimated_days: 3 }],
  form_schema: { fields: [{ id: 'size', type: 'text', label: 'Size' }] },
  max_uses: 3,
  metadata: { season: 'autumn' },
};

eachPaymentsApi('the copy of a link', test => {
  async function created(shop: Merchant, changes: object = {}): Promise<Record<string, unknown>> {
    const answer = await shop.post(LINKS, { ...TERMS, ...changes });
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
    return record(answer.body);
  }
  const copied = (shop: Merchant, { id }: Record<string, unknown>, body?: object, headers = {}) =>
    shop.post(`${LINKS}/${text(id)}/duplicate`, body, headers);

  test('has the terms of the original, and an identity of its own', async ({ api, merchant }) => {
    const original = await created(merchant);
    await merchant.post('/api/v1/checkout-sessions', { payment_link_id: original.id });
    api.clock.advance(1000);

    const { status, body } = await copied(merchant, original);

    const now = new Date(api.clock.now()).toISOString();
    const copy = record(body);
    const own = ['id', 'short_code', 'url', 'items'].map(name => [name, copy[name]]);
    expect(status).toBe(201);
    expect(copy).toEqual({
      ...original,
      ...Object.fromEntries(own),
      name: 'Copy of Field notebooks',
      created_at: now,
      updated_at: now,
    });
    expect(copy.id).not.toBe(original.id);
    expect(copy.short_code).not.toBe(original.short_code);
    expect(list(copy.items)).toMatchObject([ITEM]);
    expect(record(list(copy.items)[0]).id).not.toBe(record(list(original.items)[0]).id);
    expect((await merchant.get(`${LINKS}/${text(copy.id)}`)).body).toEqual(copy);
    expect((await merchant.get(`${LINKS}/${text(original.id)}`)).body).toEqual(original);
  });

  test('takes the given fields instead of the original’s, and null clears a field', async ({ merchant }) => {
    const original = await created(merchant);
    const given = {
      name: 'In spring',
      amount: '7',
      items: null,
      max_uses: null,
      metadata: { season: 'spring' },
    };

    const { body } = await copied(merchant, original, given);

    expect(body).toMatchObject({ ...given, items: [], description: TERMS.description });
  });

  test('is active, and drops an expiry that has passed', async ({ api, merchant }) => {
    const end = api.clock.now() + 60_000;
    const original = await created(merchant, { expires_at: new Date(end).toISOString() });
    await merchant.patch(`${LINKS}/${text(original.id)}`, { is_active: false });

    const before = await copied(merchant, original);
    api.clock.advance(60_000);
    const after = await copied(merchant, original);

    expect(before.body).toMatchObject({ availability: 'active', expires_at: new Date(end).toISOString() });
    expect(after.body).toMatchObject({ availability: 'active', expires_at: null });
  });

  test('has a name of at most a hundred characters', async ({ merchant }) => {
    const original = await created(merchant, { name: '🎉'.repeat(100) });

    const { body } = await copied(merchant, original);

    expect(record(body).name).toBe(`Copy of ${'🎉'.repeat(92)}`);
  });

  test('is created once per Idempotency-Key', async ({ merchant }) => {
    const original = await created(merchant);
    const headers = { 'Idempotency-Key': `copy-${text(original.id)}` };

    const first = await copied(merchant, original, {}, headers);
    const again = await copied(merchant, original, {}, headers);

    expect([again.status, again.body]).toEqual([201, first.body]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });

  test.for([
    [{ min_amount: '1' }, '400 invalid_field_value min_amount'],
    [{ amount: '21' }, '400 invalid_field_value amount'],
    [{ chain_id: TEST_CHAIN + 1 }, '400 invalid_field_value chain_id'],
    [{ recipient_address: PLACE.token_address }, '400 invalid_field_value recipient_address'],
    [{ is_active: false }, '400 invalid_field_value is_active'],
    [{ nmae: 'A' }, '400 invalid_field_value nmae'],
  ] as const)('with %j is refused as %s, like a new link', async ([body, error], { merchant }) => {
    const original = await created(merchant);

    expect(errorOf(await copied(merchant, original, body))).toBe(error);
  });

  test('with a short code that is already taken is refused', async ({ merchant }) => {
    const original = await created(merchant);

    const answer = await copied(merchant, original, { short_code: original.short_code });

    expect(errorOf(answer)).toBe('409 duplicate_resource short_code');
  });

  test('may name only recipients on a locked list', async ({ api }) => {
    const shop = await api.merchant();
    const original = await created(shop);
    await shop.patch('/api/v1/organization', { recipients_locked: true });

    const same = await copied(shop, original);
    const other = await copied(shop, original, { recipient_address: `0x${'ab'.repeat(20)}` });

    expect([same.status, errorOf(other)]).toEqual([201, '400 invalid_field_value recipient_address']);
  });

  test('of another owner’s link is refused exactly like one of a missing link', async ({ api, merchant }) => {
    const original = await created(merchant);
    const other = await api.merchant();
    const missing = `pl_${'0'.repeat(24)}`;

    const hidden = await copied(other, original);

    expect(masked(hidden, text(original.id))).toEqual(masked(await copied(other, { id: missing }), missing));
    expect(hidden.status).toBe(404);
  });
});
