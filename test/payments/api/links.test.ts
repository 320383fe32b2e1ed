import { describe, expect } from 'vitest';
import { execute, rowsOf } from '#db/query.ts';
import { newId } from '#lib/ids.ts';
import { list, record, text } from '../../lab/json.ts';
import { SIZE_FIELD } from '../../lab/payments-records.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import {
  errorOf,
  LIVE_CHAIN,
  type Merchant,
  masked,
  PLACE,
  RECIPIENT,
  TEST_CHAIN,
  TOKEN,
} from '../../support/payments-api.ts';

const LINKS = '/api/v1/payment-links';
const SHIPPING = { id: 'a', name: 'A', amount: '1' };
const NOTEBOOK = { name: 'Field notebooks', amount: '12500000', ...PLACE };

eachPaymentsApi('payment links', apiTest => {
  const pathOf = (link: Record<string, unknown>) => `${LINKS}/${text(link.id)}`;

  const test = apiTest
    .extend('ours', ({ merchant }) => merchant)
    .extend(
      'created',
      ({ ours }) =>
        async (changes: object = {}, merchant = ours): Promise<Record<string, unknown>> => {
          const answer = await merchant.post(LINKS, { ...NOTEBOOK, ...changes });
          if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
          return record(answer.body);
        },
    );

  test('an unknown field is refused, and the answer suggests the right field', async ({ ours }) => {
    const answer = await ours.post(LINKS, { ...NOTEBOOK, maxUses: 1, expires_in: 600 });
    const nested = await ours.post(LINKS, { ...NOTEBOOK, branding: { business: 'Corner Books' } });

    const error = {
      type: 'invalid_request_error',
      code: 'invalid_field_value',
      message: "The 'maxUses' field is not known; did you mean 'max_uses'?",
      param: 'maxUses',
    };
    expect([answer.status, answer.body]).toEqual([400, { error }]);
    expect(errorOf(nested)).toBe('400 invalid_field_value branding.business');
  });

  test('a change with an unknown field changes nothing', async ({ ours, created }) => {
    const link = await created();

    const mixed = await ours.patch(pathOf(link), { name: 'Other', maxUses: 1 });
    const unknown = await ours.patch(pathOf(link), { maxUses: 1 });

    expect([errorOf(mixed), errorOf(unknown)]).toEqual([
      '400 invalid_field_value maxUses',
      '400 no_updates_provided',
    ]);
    expect((await ours.get(pathOf(link))).body).toEqual(link);
  });

  test('a date where a time is needed is refused, and the message describes a time', async ({ ours }) => {
    const answer = await ours.get('/api/v1/checkout-sessions?from=2026-11-21');

    expect([answer.status, record(record(answer.body).error).message]).toEqual([
      400,
      'from: must be an existing date and time with a time zone, such as 2026-11-21T09:30:00Z or 2026-11-21T10:30:00+01:00',
    ]);
  });

  test('a misspelt query parameter is refused with a suggestion, others are ignored', async ({ ours }) => {
    const misspelt = await ours.get(`${LINKS}?limt=5`);
    const other = await ours.get(`${LINKS}?t=1&_=2&utm_source=x`);

    expect(misspelt.body).toMatchObject({
      error: { param: 'limt', message: "limt: is not a parameter of this operation; did you mean 'limit'?" },
    });
    expect([misspelt.status, other.status]).toEqual([400, 200]);
  });

  test('a new link has its given terms and the default of every other field', async ({ ours }) => {
    const answer = await ours.post(LINKS, { ...NOTEBOOK, name: '  Field notebooks ' });

    const link = record(answer.body);
    expect(answer.status).toBe(201);
    expect(link).toEqual({
      object: 'payment_link',
      id: link.id,
      mode: 'test',
      name: 'Field notebooks',
      description: null,
      short_code: link.short_code,
      url: `https://pay.example.com/pay/${text(link.short_code)}`,
      is_active: true,
      availability: 'active',
      amount: '12500000',
      min_amount: null,
      max_amount: null,
      suggested_amount: null,
      ...PLACE,
      image_url: null,
      theme_color: null,
      button_text: 'Pay',
      return_url: null,
      return_label: null,
      branding: null,
      form_schema: null,
      shipping_options: [],
      collect_shipping_address: false,
      items: [],
      max_uses: null,
      reserve_uses: false,
      current_uses: 0,
      payment_method: 'exact_amount',
      payment_tolerance: null,
      expires_at: null,
      metadata: {},
      created_at: link.created_at,
      updated_at: link.created_at,
    });
    expect((await ours.get(pathOf(link))).body).toEqual(link);
  });

  test('every field of a link is answered as it was given', async ({ created }) => {
    const { items, ...said } = {
      ...NOTEBOOK,
      amount: '500',
      description: 'Two lines\nof text',
      short_code: 'spring_sale-26',
      image_url: 'https://books.example/a.png',
      theme_color: '#0052fF',
      button_text: 'Buy',
      return_url: 'https://books.example/thanks',
      return_label: 'Back',
      branding: { business_name: 'Corner Books', logo_url: null },
      form_schema: {
        fields: [
          SIZE_FIELD,
          { id: 'note', type: 'text', label: 'Note', required: false, placeholder: 'Hello', options: [] },
        ],
      },
      shipping_options: [{ id: 'slow', name: 'Slow', amount: '0', estimated_days: null }],
      collect_shipping_address: true,
      items: [
        { name: 'A', description: null, image_url: null, amount: '200', quantity: 2 },
        { name: 'B', description: 'b', image_url: 'https://books.example/b.png', amount: '100', quantity: 1 },
      ],
      max_uses: 3,
      metadata: { order: '1042' },
    };

    const link = await created({ ...said, items, expires_at: '2027-01-01T01:00:00.123999+01:00' });

    expect(link).toMatchObject({ ...said, expires_at: '2027-01-01T00:00:00.123Z' });
    const kept = list(link.items).map(record);
    expect(kept.map(({ id: _, ...item }) => item)).toEqual(items);
    expect(new Set(kept.map(({ id }) => id)).size).toBe(2);
  });

  test('null equals an omitted field, and options of a field without a choice are dropped', async ({
    created,
  }) => {
    const link = await created({
      description: null,
      button_text: null,
      branding: {},
      items: null,
      shipping_options: null,
      metadata: null,
      max_uses: null,
      expires_at: null,
      form_schema: { fields: [{ id: 'a', type: 'text', label: 'A', options: ['x'] }] },
    });

    expect(link).toMatchObject({
      description: null,
      button_text: 'Pay',
      branding: { business_name: null, logo_url: null },
      items: [],
      shipping_options: [],
      metadata: {},
      form_schema: { fields: [{ options: [], required: false, placeholder: null }] },
    });
  });

  test('blanks around the options of a select are dropped, as on the pay page', async ({ created }) => {
    const size = { id: 'size', type: 'select', label: 'Size', required: true, options: [' S', 'M  '] };
    const link = await created({ form_schema: { fields: [size] } });

    expect(record(link.form_schema).fields).toMatchObject([{ options: ['S', 'M'] }]);
  });

  test('addresses are answered in lower case, and both spellings of the native coin are equal', async ({
    created,
  }) => {
    const upper = `0x${RECIPIENT.slice(2).toUpperCase()}`;

    const token = await created({ recipient_address: upper });
    const coin = await created({ token_address: `0x${'eE'.repeat(20)}` });

    expect([token.recipient_address, coin.token_address]).toEqual([RECIPIENT, `0x${'0'.repeat(40)}`]);
  });

  test('fields with a default of the organization may be omitted', async ({ api }) => {
    const merchant = await api.merchant('test', {
      chainId: TEST_CHAIN,
      tokenAddress: TOKEN,
      recipientAddress: RECIPIENT,
    });

    const link = record((await merchant.post(LINKS, { name: 'A gift' })).body);
    const elsewhere = record((await merchant.post(LINKS, { name: 'B', recipient_address: TOKEN })).body);

    expect(link).toMatchObject({ ...PLACE, amount: null });
    expect(record(elsewhere.error).param).toBe('recipient_address');
  });

  test.for<[{ tokenAddress?: string; chainId?: number }, string]>([
    [{}, 'token_address'],
    [{ tokenAddress: TOKEN }, 'chain_id'],
    [{ tokenAddress: TOKEN, chainId: TEST_CHAIN }, 'recipient_address'],
  ])('with defaults for %o only, the first missing field is named', async ([defaults, field], { api }) => {
    const merchant = await api.merchant('test', defaults);

    const answer = await merchant.post(LINKS, { name: 'A', expires_at: '2001-01-01T00:00:00Z' });

    expect(errorOf(answer)).toBe(`400 missing_required_field ${field}`);
  });

  describe('a link is refused with', () => {
    const field = { id: 'a', type: 'text', label: 'A' };
    const way = { id: 'a', name: 'A', amount: '1' };
    const most = ((1n << 256n) - 1n).toString();
    test.for<[string, object, string]>([
      ['a minimum above the maximum', { amount: null, min_amount: '3', max_amount: '2' }, 'min_amount'],
      [
        'a suggestion below the minimum',
        { amount: null, min_amount: '3', suggested_amount: '2' },
        'min_amount',
      ],
      [
        'a suggestion above the maximum',
        { amount: null, max_amount: '3', suggested_amount: '4' },
        'suggested_amount',
      ],
      ['a bound in addition to an amount', { max_amount: '3' }, 'max_amount'],
      ['items that do not add up', { items: [{ name: 'A', amount: '1' }] }, 'items'],
      ['items that cost nothing', { amount: null, items: [{ name: 'A', amount: '0' }] }, 'items'],
      ['items beyond 256 bits', { amount: null, items: [{ name: 'A', amount: most, quantity: 2 }] }, 'items'],
      ['shipping beyond 256 bits', { amount: most, shipping_options: [way] }, 'shipping_options.0.amount'],
      ['two fields with one id', { form_schema: { fields: [field, field] } }, 'form_schema.fields.1.id'],
      ['two shipping options with one id', { shipping_options: [way, way] }, 'shipping_options.1.id'],
      [
        'a select without options',
        { form_schema: { fields: [{ ...field, type: 'select' }] } },
        'form_schema.fields.0.options',
      ],
      [
        'a blank select option',
        { form_schema: { fields: [{ ...field, type: 'select', options: ['S', ' '] }] } },
        'form_schema.fields.0.options.1',
      ],
      [
        'a field with a forbidden id',
        { form_schema: { fields: [field, { ...field, id: '__proto__' }] } },
        'form_schema.fields.1.id',
      ],
      ['an expiry that has passed', { expires_at: '2026-05-04T12:00:00Z' }, 'expires_at'],
      ['a chain that is not configured', { chain_id: 5 }, 'chain_id'],
      ['a chain of the other mode', { chain_id: LIVE_CHAIN }, 'chain_id'],
      ['a token that is not configured', { token_address: RECIPIENT }, 'token_address'],
      ['the zero address as recipient', { recipient_address: `0x${'0'.repeat(40)}` }, 'recipient_address'],
      ['the system address as recipient', { recipient_address: `0x${'F'.repeat(39)}E` }, 'recipient_address'],
      ['the token as the recipient', { recipient_address: TOKEN }, 'recipient_address'],
      [
        'another token as the recipient',
        { token_address: `0x${'0'.repeat(40)}`, recipient_address: TOKEN.toUpperCase().replace('0X', '0x') },
        'recipient_address',
      ],
      ['a name of blanks', { name: '  ' }, 'name'],
    ])('%s', async ([_, changes, param], { ours }) => {
      const answer = await ours.post(LINKS, { ...NOTEBOOK, ...changes });

      expect(errorOf(answer)).toBe(`400 invalid_field_value ${param}`);
    });
  });

  test.for<[object, string]>([
    [
      { amount: 5 },
      "'amount' field must be a string or null: a positive decimal integer below 2^256 without leading zeros.",
    ],
    [
      { amount: '1e3' },
      "'amount' field must be a positive decimal integer below 2^256 without leading zeros.",
    ],
    [{ amount: `${1n << 256n}` }, "'amount' field must be a positive decimal integer below 2^256 without"],
    [
      { recipient_address: '0x12' },
      "'recipient_address' field must be 0x followed by 40 hexadecimal digits.",
    ],
    [
      { short_code: 'a b c d' },
      "'short_code' field must be 4 to 32 letters, digits, underscores or hyphens.",
    ],
    [{ name: '' }, "'name' field must be a single line of text with at least one visible character"],
    [{ name: 'x'.repeat(101) }, 'and no control characters (at most 100 characters).'],
    [{ description: 'x'.repeat(501) }, "'description' field must be at most 500 characters long."],
    [{ max_uses: 0 }, "'max_uses' field must be an integer from 1 to "],
    [{ max_uses: '1' }, "'max_uses' field must be an integer or null."],
    [{ collect_shipping_address: 'yes' }, "'collect_shipping_address' field must be true or false."],
    [
      { metadata: { 'no such key!': 'x' } },
      "'metadata' field has the key 'no such key!': a key must be 1 to 40",
    ],
    [
      { form_schema: { fields: [{ id: '__proto__', type: 'text', label: 'A' }] } },
      "'form_schema.fields.0.id' field must not be __proto__.",
    ],
    [
      { shipping_options: [SHIPPING, SHIPPING] },
      "'shipping_options.1.id' field repeats the id of an earlier entry; each id must be unique.",
    ],
    [
      { amount: null, min_amount: '3', max_amount: '2' },
      "'min_amount' field breaks the order: min_amount ≤ suggested_amount ≤ max_amount must hold.",
    ],
    [{ image_url: 'http://a.example' }, 'must be an https:// address, or the url of an uploaded image'],
    [{ expires_at: '2030-02-30T00:00:00Z' }, 'must be an existing date and time with a time zone, such as'],
    [
      { form_schema: { fields: [{ id: 'email', type: 'text', label: 'A' }] } },
      "'form_schema.fields.0.id' field must not be email or shipping_address.",
    ],
    [
      { form_schema: { fields: [{ id: 'a', type: 7, label: 'A' }] } },
      "'form_schema.fields.0.type' field must be one of text, ",
    ],
  ])('a refusal of %o says in words what would be taken', async ([changes, words], { ours }) => {
    const { body } = await ours.post(LINKS, { ...NOTEBOOK, ...changes });

    expect(record(record(body).error).message).toContain(words);
  });

  test('live keys can use live chains only', async ({ api }) => {
    const live = await api.merchant('live');

    const here = await live.post(LINKS, { ...NOTEBOOK, chain_id: LIVE_CHAIN });
    const there = await live.post(LINKS, NOTEBOOK);

    expect([here.status, record(here.body).mode]).toEqual([201, 'live']);
    expect(errorOf(there)).toBe('400 invalid_field_value chain_id');
  });

  test('the list is newest first, in pages', async ({ api, created }) => {
    const merchant = await api.merchant();
    for (const name of ['A', 'B', 'C']) {
      await created({ name }, merchant);
      api.clock.advance(1_000);
    }

    const first = record((await merchant.get(`${LINKS}?limit=2`)).body);
    const last = record((await merchant.get(`${LINKS}?limit=2&page=2`)).body);
    const names = [first, last].map(({ data }) => list(data).map(link => record(link).name));

    expect(names).toEqual([['C', 'B'], ['A']]);
    expect([first.has_more, first.total_count, first.url]).toEqual([true, 3, LINKS]);
    expect([last.has_more, last.total_count]).toEqual([false, 3]);
  });

  test('the list is filtered by text and by is_active', async ({ api, created }) => {
    const merchant = await api.merchant();
    const code = `50_${newId('x').slice(2, 10)}`;
    await created({ name: 'Half price: 50%', short_code: code }, merchant);
    const off = await created({ name: 'Whole price' }, merchant);
    await merchant.patch(pathOf(off), { is_active: false });
    const found = async (query: string) =>
      list(record((await merchant.get(`${LINKS}?${query}`)).body).data).map(link => record(link).name);

    expect(await found('search=%20PRICE%20&sort=name&order=asc')).toEqual(['Half price: 50%', 'Whole price']);
    expect(await found('search=0%25')).toEqual(['Half price: 50%']);
    expect(await found(`search=${code.toUpperCase()}`)).toEqual(['Half price: 50%']);
    expect(await found('active=false')).toEqual(['Whole price']);
    expect(await found('active=true')).toEqual(['Half price: 50%']);
  });

  test('availability follows is_active and expires_at', async ({ api, ours, created }) => {
    const ending = await created({ expires_at: new Date(api.clock.now() + 1_000).toISOString() });
    const off = await ours.patch(pathOf(await created()), { is_active: false });

    api.clock.advance(1_000);
    const ended = await ours.get(pathOf(ending));

    expect(record(off.body).availability).toBe('inactive');
    expect(record(ended.body)).toMatchObject({ is_active: true, availability: 'expired' });
  });

  test('a deleted link is not found, and its active sessions expire and name no link', async ({
    ours,
    created,
  }) => {
    const link = await created();
    const begun = record((await ours.post('/api/v1/checkout-sessions', { payment_link_id: link.id })).body);

    const deleted = await ours.delete(pathOf(link));

    const session = await ours.get(`/api/v1/checkout-sessions/${text(begun.id)}`);
    const events = record((await ours.get('/api/v1/events?type=checkout.expired')).body);
    expect(deleted.body).toEqual({ object: 'payment_link', id: link.id, deleted: true });
    expect(record(session.body)).toMatchObject({ status: 'expired', payment_link_id: null });
    expect(JSON.stringify(events)).toContain(text(begun.id));
    expect(errorOf(await ours.get(pathOf(link)))).toBe('404 resource_not_found');
    expect(errorOf(await ours.delete(pathOf(link)))).toBe('404 resource_not_found');
  });

  test('the deletion of a link with 20,000 sessions does not block other requests', async ({
    api,
    ours,
    created,
  }) => {
    const link = await created();
    const id = text(link.id);
    const begun = record((await ours.post('/api/v1/checkout-sessions', { payment_link_id: id })).body);
    const [row = {}] = await rowsOf<object>(api.db, 'select * from checkout_sessions where id = ?', [
      text(begun.id),
    ]);
    const changes: Record<string, string> = {
      id: "'cs_copy' || n",
      status: "case n % 40 when 0 then 'active' else 'expired' end",
      is_wallet_only: 'true',
    };
    const columns = Object.keys(row);
    const sql = `insert into checkout_sessions (${columns.join(', ')})
      with recursive copies (n) as (select 1 union all select n + 1 from copies where n < 20000)
      select ${columns.map(column => changes[column] ?? column).join(', ')}
      from checkout_sessions, copies where id = ?`;
    await execute(api.db, sql, [text(begun.id)]);
    const other = await api.merchant();
    let isDeleted = false;
    let answered = 0;

    const deleting = ours.delete(pathOf(link)).finally(() => {
      isDeleted = true;
    });
    while (!isDeleted) {
      const { status } = await other.patch('/api/v1/organization', { recipients_locked: false });
      if (!isDeleted && status === 200) answered += 1;
    }

    const left = 'select id from checkout_sessions where payment_link_id = ?';
    const unended = "select id from checkout_sessions where id = ? and status = 'active'";
    expect((await deleting).status).toBe(200);
    expect(answered).toBeGreaterThanOrEqual(10);
    expect(await rowsOf(api.db, left, [id])).toEqual([]);
    expect(await rowsOf(api.db, unended, [text(begun.id)])).toEqual([]);
    expect(errorOf(await ours.get(pathOf(link)))).toBe('404 resource_not_found');
  });

  test('the sessions of a link are listed, and no others', async ({ ours, created }) => {
    const [link, other] = [await created(), await created()];
    const begin = async (id: unknown) =>
      record((await ours.post('/api/v1/checkout-sessions', { payment_link_id: id })).body);
    const session = await begin(link.id);
    await begin(other.id);
    const path = `${pathOf(link)}/sessions`;

    const all = record((await ours.get(path)).body);
    const completed = record((await ours.get(`${path}?status=completed`)).body);

    expect(all).toEqual({ object: 'list', data: [session], has_more: false, total_count: 1, url: path });
    expect(completed.total_count).toBe(0);
  });

  test.for<[string, (merchant: Merchant, id: string) => ReturnType<Merchant['get']>]>([
    ['read', (merchant: Merchant, id: string) => merchant.get(`${LINKS}/${id}`)],
    ['its sessions read', (merchant: Merchant, id: string) => merchant.get(`${LINKS}/${id}/sessions`)],
    ['changed', (merchant: Merchant, id: string) => merchant.patch(`${LINKS}/${id}`, { name: 'Mine' })],
    ['deleted', (merchant: Merchant, id: string) => merchant.delete(`${LINKS}/${id}`)],
  ])(
    'another organization’s link, %s, answers exactly like a missing one',
    async ([_, ask], { api, ours, created }) => {
      const theirs = text((await created({}, await api.merchant())).id);
      const never = newId('pl');

      const hidden = await ask(ours, theirs);
      const missing = await ask(ours, never);

      expect(hidden.status).toBe(404);
      expect(masked(hidden, theirs)).toEqual(masked(missing, never));
    },
  );
});
