import { expect } from 'vitest';
import { list, record, text } from '../../lab/json.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import { errorOf, PLACE, RECIPIENT, TOKEN } from '../../support/payments-api.ts';

const LINKS = '/api/v1/payment-links';
const COIN = `0x${'0'.repeat(40)}`;
const NOTEBOOK = { name: 'Field notebooks', amount: '12500000', ...PLACE };

eachPaymentsApi('changes of payment links', apiTest => {
  const pathOf = (link: Record<string, unknown>) => `${LINKS}/${text(link.id)}`;

  const test = apiTest
    .extend('ours', ({ merchant }) => merchant)
    .extend('created', ({ ours }) => async (changes: object = {}): Promise<Record<string, unknown>> => {
      const answer = await ours.post(LINKS, { ...NOTEBOOK, ...changes });
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
      return record(answer.body);
    });

  test('a change keeps every field it does not name, and sets updated_at', async ({ api, ours, created }) => {
    const link = await created({ description: 'Two', metadata: { a: '1' } });
    api.clock.advance(5_000);

    const changed = await ours.patch(pathOf(link), { name: ' Pencils ' });

    const updated_at = new Date(api.clock.now()).toISOString();
    expect(changed.body).toEqual({ ...link, name: 'Pencils', updated_at });
    expect((await ours.get(pathOf(link))).body).toEqual(changed.body);
  });

  test('null clears an optional field', async ({ ours, created }) => {
    const link = await created({
      amount: '5',
      description: 'Two',
      button_text: 'Buy',
      branding: { business_name: 'B' },
      form_schema: { fields: [{ id: 'a', type: 'text', label: 'A' }] },
      shipping_options: [{ id: 'a', name: 'A', amount: '1' }],
      items: [{ name: 'A', amount: '5' }],
      max_uses: 3,
      expires_at: '2028-01-01T00:00:00Z',
      metadata: { a: '1' },
    });
    const cleared = {
      amount: null,
      description: null,
      branding: null,
      form_schema: null,
      max_uses: null,
      expires_at: null,
    };

    const changed = await ours.patch(pathOf(link), {
      ...cleared,
      button_text: null,
      shipping_options: null,
      items: null,
      metadata: null,
    });

    const emptied = { button_text: 'Pay', shipping_options: [], items: [], metadata: {} };
    expect(changed.body).toMatchObject({ ...cleared, ...emptied });
  });

  test.for(['name', 'short_code', 'is_active', 'chain_id', 'token_address', 'recipient_address'])(
    'null for %s, which is required, is refused',
    async (field, { ours, created }) => {
      const answer = await ours.patch(pathOf(await created()), { [field]: null });

      expect(errorOf(answer)).toBe(`400 invalid_field_value ${field}`);
    },
  );

  test.for<[object, object, string]>([
    [{ amount: null, min_amount: '3' }, { amount: '5' }, 'amount'],
    [{ amount: null, min_amount: '3' }, { max_amount: '2' }, 'max_amount'],
    [{}, { suggested_amount: '2' }, 'suggested_amount'],
    [{ amount: '5', items: [{ name: 'A', amount: '5' }] }, { amount: '6' }, 'amount'],
    [{ amount: '5', items: [{ name: 'A', amount: '5' }] }, { items: [{ name: 'A', amount: '6' }] }, 'items'],
  ])(
    'a link with %o refuses the change %o and names the invalid field',
    async ([before, change, param], { ours, created }) => {
      const link = await created(before);

      const answer = await ours.patch(pathOf(link), change);

      expect(errorOf(answer)).toBe(`400 invalid_field_value ${param}`);
      expect((await ours.get(pathOf(link))).body).toEqual(link);
    },
  );

  test('one change can replace an amount by bounds, and new items get new ids', async ({ ours, created }) => {
    const link = await created({ amount: '5', items: [{ name: 'A', amount: '5' }] });

    const bounded = await ours.patch(pathOf(link), { amount: null, min_amount: '1', items: null });
    const again = await ours.patch(pathOf(link), { items: [{ name: 'A', amount: '5' }] });

    const ids = [link, record(again.body)].map(({ items }) => record(list(items)[0]).id);
    expect(record(bounded.body)).toMatchObject({ amount: null, min_amount: '1', items: [] });
    expect(ids[0]).not.toBe(ids[1]);
  });

  test.for(['email', 'shipping_address'])(
    'a form field with the id %s is refused',
    async (id, { ours, created }) => {
      const form_schema = {
        fields: [
          { id: 'size', type: 'text', label: 'Size' },
          { id, type: 'text', label: 'A' },
        ],
      };

      const answers = [
        await ours.post(LINKS, { ...NOTEBOOK, form_schema }),
        await ours.patch(pathOf(await created()), { form_schema }),
      ];

      const refusal = '400 invalid_field_value form_schema.fields.1.id';
      expect(answers.map(errorOf)).toEqual([refusal, refusal]);
    },
  );

  test('a change without any changeable field is refused', async ({ ours, created }) => {
    const answer = await ours.patch(pathOf(await created()), { current_uses: 5, id: 'pl_x' });

    expect(errorOf(answer)).toBe('400 no_updates_provided');
  });

  test('token, chain and recipient can change only while the link has no session', async ({
    ours,
    created,
  }) => {
    const link = await created();
    const before = await ours.patch(pathOf(link), { token_address: COIN });
    await ours.post('/api/v1/checkout-sessions', { payment_link_id: link.id });

    const token = await ours.patch(pathOf(link), { token_address: TOKEN });
    const recipient = await ours.patch(pathOf(link), { recipient_address: `0x${'7'.repeat(40)}` });
    const same = await ours.patch(pathOf(link), { token_address: COIN, name: 'Other' });

    expect(record(before.body).token_address).toBe(COIN);
    expect(errorOf(token)).toBe('400 invalid_status_transition token_address');
    expect(errorOf(recipient)).toBe('400 invalid_status_transition recipient_address');
    expect(same.status).toBe(200);
  });

  test('a change to an unusable token, recipient or chain is refused and names that field', async ({
    ours,
    created,
  }) => {
    const link = await created();

    const token = await ours.patch(pathOf(link), { token_address: RECIPIENT });
    const recipient = await ours.patch(pathOf(link), { recipient_address: TOKEN });
    const chain = await ours.patch(pathOf(link), { chain_id: 5 });

    expect([token, recipient, chain].map(errorOf)).toEqual([
      '400 invalid_field_value token_address',
      '400 invalid_field_value recipient_address',
      '400 invalid_field_value chain_id',
    ]);
  });

  test('a session keeps the terms it was opened with', async ({ ours, created }) => {
    const link = await created({ amount: '700' });
    const begun = record((await ours.post('/api/v1/checkout-sessions', { payment_link_id: link.id })).body);

    await ours.patch(pathOf(link), { amount: '800' });

    const session = await ours.get(`/api/v1/checkout-sessions/${text(begun.id)}`);
    expect(session.body).toEqual(begun);
  });

  test('a short code is never assigned twice, even after its link changed it or was deleted', async ({
    api,
    ours,
    created,
  }) => {
    const [first, second] = ['Given-up1', 'Deleted_1'];
    const link = await created({ short_code: first });
    const other = await created({ short_code: second });
    const moved = await ours.patch(pathOf(link), { short_code: 'New-code1' });
    await ours.delete(pathOf(other));
    const stranger = await api.merchant();

    const taken = [
      await stranger.post(LINKS, { ...NOTEBOOK, short_code: first }),
      await stranger.post(LINKS, { ...NOTEBOOK, short_code: second }),
      await stranger.post(LINKS, { ...NOTEBOOK, short_code: 'New-code1' }),
      await ours.patch(pathOf(await created()), { short_code: first }),
    ];
    const back = await ours.patch(pathOf(link), { short_code: first });
    const otherCase = await stranger.post(LINKS, { ...NOTEBOOK, short_code: first.toUpperCase() });

    expect(record(moved.body).short_code).toBe('New-code1');
    expect(taken.map(errorOf)).toEqual(taken.map(() => '409 duplicate_resource short_code'));
    expect([back.status, otherCase.status]).toEqual([200, 201]);
  });

  test('of concurrent requests for one short code one succeeds, and the others are refused', async ({
    api,
    ours,
  }) => {
    const merchants = [ours, await api.merchant()];
    const wanting = Array.from({ length: 12 }, (_, index) => merchants[index % 2] ?? ours);

    const answers = await Promise.all(
      wanting.map(merchant => merchant.post(LINKS, { ...NOTEBOOK, short_code: 'all-at-once' })),
    );

    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(errorOf)).toEqual(Array(11).fill('409 duplicate_resource short_code'));
  });

  test('concurrent changes are all kept', async ({ ours, created }) => {
    const link = await created();
    const changes = [{ name: 'Other' }, { description: 'More' }, { max_uses: 9 }, { is_active: false }];

    await Promise.all(changes.map(change => ours.patch(pathOf(link), change)));

    const now = record((await ours.get(pathOf(link))).body);
    expect(now).toMatchObject({ name: 'Other', description: 'More', max_uses: 9, is_active: false });
  });

  test('requests with one idempotency key create one link', async ({ ours }) => {
    const key = { 'Idempotency-Key': 'order-1042' };

    const [first, again] = [await ours.post(LINKS, NOTEBOOK, key), await ours.post(LINKS, NOTEBOOK, key)];

    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
  });
});
