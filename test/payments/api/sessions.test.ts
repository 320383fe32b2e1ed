import { getAddress } from 'viem';
import { describe, expect } from 'vitest';
import { linkStore } from '#payments/store/link-store.ts';
import { record, text } from '../../lab/json.ts';
import { aLink } from '../../lab/payments-records.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import { aPayment, errorOf, idsOf, LIVE_CHAIN, masked, PLACE } from '../../support/payments-api.ts';

const PATH = '/api/v1/checkout-sessions';
const OWN = { ...PLACE, amount: '4000' };
const MISSING = 'cs_000000000000000000000000';

eachPaymentsApi('checkout sessions', apiTest => {
  const test = apiTest
    .extend(
      'linked',
      ({ api, merchant }) =>
        async (changes: Parameters<typeof aLink>[1] = {}, owner = merchant.owner) => {
          const link = aLink(owner, changes);
          await linkStore(api.db).insert(link);
          return link;
        },
    )
    .extend('opened', ({ merchant }) => async (body: unknown = OWN, by = merchant) => {
      const answer = await by.post(PATH, body);
      expect(answer.status).toBe(201);
      return record(answer.body);
    })
    .extend(
      'refused',
      ({ merchant }) =>
        async (body: unknown) =>
          errorOf(await merchant.post(PATH, body)),
    );

  describe('creation', () => {
    test('with a deposit address asks for the price at an address of its own', async ({ opened }) => {
      const [session, other] = [
        await opened({ ...OWN, payment_method: 'deposit_address' }),
        await opened({ ...OWN, payment_method: 'deposit_address' }),
      ];

      const address = text(session.deposit_address);
      expect(session).toMatchObject({
        payment_method: 'deposit_address',
        amount_due: '4000',
        amount_remaining: '4000',
        recipient_address: PLACE.recipient_address,
        payment_uri: `ethereum:${PLACE.token_address}@${PLACE.chain_id}/transfer?address=${address}&uint256=4000`,
      });
      expect(getAddress(address)).toBe(address);
      expect(other.deposit_address).not.toBe(address);
    });

    test('of a link has its payment method, which the merchant may replace', async ({ linked, opened }) => {
      const link = await linked({ paymentMethod: 'deposit_address' });

      const session = await opened({ payment_link_id: link.id });
      const other = await opened({ payment_link_id: link.id, payment_method: 'exact_amount' });

      expect(session).toMatchObject({ payment_method: 'deposit_address' });
      expect(other).toMatchObject({ payment_method: 'exact_amount', deposit_address: null });
    });

    test('asks for an exact amount where a chain offers no deposit addresses, and at a recipient of others', async ({
      opened,
      merchant,
      api,
    }) => {
      const wanted = { ...OWN, payment_method: 'deposit_address' };
      const live = await merchant.withKey({ mode: 'live' });
      const elsewhere = await live.post(PATH, { ...wanted, chain_id: LIVE_CHAIN });
      await opened(wanted);
      const another = await (await api.merchant()).post(PATH, wanted);

      expect(elsewhere.body).toMatchObject({ payment_method: 'exact_amount', deposit_address: null });
      expect(record(elsewhere.body).amount_due).not.toBe('4000');
      expect(another.body).toMatchObject({ payment_method: 'exact_amount', payment_uri: null });
    });

    test('of a link takes its terms and the merchant’s own fields', async ({ linked, opened }) => {
      const link = await linked({ amount: 700n, returnUrl: 'https://shop.example/thanks' });

      const session = await opened({
        payment_link_id: link.id,
        clientReferenceId: 'order-1',
        metadata: { order: '1' },
        customerEmail: 'ada@example.com',
        customerName: 'Ada',
        cancel_url: 'https://shop.example/cart?s={SESSION_ID}',
      });

      expect(session).toMatchObject({
        mode: 'test',
        status: 'active',
        payment_status: 'awaiting_payment',
        payment_link_id: link.id,
        url: `https://pay.example.com/pay/s/${session.id}`,
        subtotal: '700',
        amount: '700',
        amount_received: '0',
        required_confirmations: 2,
        success_url: 'https://shop.example/thanks',
        cancel_url: 'https://shop.example/cart?s={SESSION_ID}',
        clientReferenceId: 'order-1',
        metadata: { order: '1' },
        customerEmail: 'ada@example.com',
        customerName: 'Ada',
        form_data: null,
        form_labels: {},
        payer_address: null,
        completed_at: null,
      });
    });

    test('accepts the names of document 3 in snake_case, too', async ({ api, merchant, linked, opened }) => {
      const texts = { client_reference_id: 'order-1', customer_email: 'a@b.example', customer_name: ' Ada ' };
      const link = await linked();
      const checkout = `/api/v1/pay/links/${link.shortCode}/sessions`;

      const byMerchant = await opened({ ...OWN, ...texts, clientReferenceId: 'order-1' });
      const byPayer = await api.payer.post(checkout, texts);

      const read = { clientReferenceId: 'order-1', customerEmail: 'a@b.example', customerName: 'Ada' };
      expect(byMerchant).toMatchObject(read);
      expect((await merchant.get(`${PATH}/${text(record(byPayer.body).id)}`)).body).toMatchObject(read);
    });

    test.for<[object, string]>([
      [{ clientReferenceId: 'a', client_reference_id: 'b' }, 'client_reference_id'],
      [{ customerEmail: null, customer_email: 'a@b.example' }, 'customer_email'],
      [{ customerName: 'Ada', customer_name: 'Bob' }, 'customer_name'],
    ])('refuses both names of one field with different values: %j', async ([texts, param], { refused }) => {
      expect(await refused({ ...OWN, ...texts })).toBe(`400 invalid_field_value ${param}`);
    });

    test('limits the metadata of link and session to 50 keys together', async ({
      linked,
      opened,
      refused,
    }) => {
      const keys = (prefix: string, count: number) =>
        Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, 'x']));
      const link = await linked({ metadata: keys('link', 50) });
      const over = { ...keys('link', 49), own: 'x' };

      const replaced = await opened({ payment_link_id: link.id, metadata: keys('link', 50) });

      expect(await refused({ payment_link_id: link.id, metadata: over })).toBe(
        '400 invalid_field_value metadata',
      );
      expect(replaced.metadata).toEqual(keys('link', 50));
    });

    test('without a link accepts addresses in any case and both names of the coin', async ({ opened }) => {
      const session = await opened({
        ...OWN,
        token_address: `0x${'Ee'.repeat(20)}`,
        recipient_address: `0x${'Ab'.repeat(20)}`,
      });

      expect(session).toMatchObject({
        payment_link_id: null,
        token_address: `0x${'0'.repeat(40)}`,
        recipient_address: `0x${'ab'.repeat(20)}`,
        payment_uri: `ethereum:0x${'ab'.repeat(20)}@${PLACE.chain_id}?value=${session.amount_due}`,
        success_url: null,
        metadata: {},
      });
    });

    test('gives a payer 30 minutes, or the requested time', async ({ opened }) => {
      const lifetime = (session: Record<string, unknown>) =>
        (Date.parse(text(session.expires_at)) - Date.parse(text(session.created_at))) / 1000;

      expect([lifetime(await opened()), lifetime(await opened({ ...OWN, expires_in: 300 }))]).toEqual([
        1800, 300,
      ]);
    });

    test('gives every open session at one recipient a different exact amount', async ({ opened }) => {
      const body = { ...OWN, amount: '9000' };

      const dues = await Promise.all(Array.from({ length: 4 }, () => opened(body)));

      const amounts = dues.map(({ amount_due }) => Number(amount_due));
      expect(new Set(amounts).size).toBe(4);
      expect(amounts.every(amount => amount > 9000 && amount < 19_000)).toBe(true);
    });

    test('with no exact amount free is payable by wallet only', async ({ opened }) => {
      const largest = `${2n ** 256n - 1n}`;

      expect(await opened({ ...OWN, amount: largest })).toMatchObject({
        amount_due: largest,
        payment_uri: null,
      });
    });

    test('without a link names the first missing term', async ({ refused }) => {
      const { token_address, chain_id, recipient_address } = OWN;

      expect([
        await refused({}),
        await refused({ amount: '1', token_address }),
        await refused({ token_address, chain_id }),
        await refused({ token_address, chain_id, recipient_address }),
      ]).toEqual([
        '400 missing_required_field token_address',
        '400 missing_required_field chain_id',
        '400 missing_required_field recipient_address',
        '400 missing_required_field amount',
      ]);
    });

    test('without a link checks its terms', async ({ refused }) => {
      expect([
        await refused({ ...OWN, chain_id: LIVE_CHAIN }),
        await refused({ ...OWN, chain_id: 5 }),
        await refused({ ...OWN, token_address: PLACE.recipient_address }),
        await refused({ ...OWN, recipient_address: `0x${'0'.repeat(40)}` }),
        await refused({ ...OWN, recipient_address: PLACE.token_address }),
        await refused({ ...OWN, recipient_address: '0x1' }),
        await refused({ ...OWN, amount: '0' }),
        await refused({ ...OWN, shipping_option_id: 'post' }),
      ]).toEqual([
        '400 invalid_field_value chain_id',
        '400 invalid_field_value chain_id',
        '400 invalid_field_value token_address',
        '400 invalid_field_value recipient_address',
        '400 invalid_field_value recipient_address',
        '400 invalid_address recipient_address',
        '400 invalid_field_value amount',
        '400 invalid_field_value shipping_option_id',
      ]);
    });

    test('accepts the largest possible amount, twice', async ({ opened }) => {
      const body = { ...OWN, amount: `${2n ** 256n - 1n}` };

      expect([(await opened(body)).payment_status, (await opened(body)).payment_status]).toEqual([
        'awaiting_payment',
        'awaiting_payment',
      ]);
    });

    test.for(['token_address', 'chain_id', 'recipient_address', 'amount'] as const)(
      'refuses a %s that differs from the link’s',
      async (field, { linked, refused }) => {
        const { id } = await linked();

        expect(await refused({ payment_link_id: id, [field]: OWN[field] })).toBe(
          `400 invalid_field_value ${field}`,
        );
      },
    );

    test('names the invalid field of the payer’s choices', async ({ linked, opened, refused }) => {
      const form = { id: 'size', type: 'select', label: 'Size', required: true, placeholder: null } as const;
      const { id: payment_link_id } = await linked({
        amount: null,
        collectShippingAddress: true,
        formSchema: { fields: [{ ...form, options: ['S', 'M'] }] },
      });
      const shipping_address = { line1: 'a', city: 'b', zip: 'c' };
      const good = { payment_link_id, amount: '5', shipping_address, form_data: { size: 'S', more: 1 } };

      expect([
        await refused({ ...good, amount: undefined }),
        await refused({ ...good, shipping_address: { line1: 'a', city: 'b' } }),
        await refused({ ...good, shipping_address: null }),
        await refused({ ...good, form_data: {} }),
        await refused({ ...good, form_data: { size: 'L' } }),
      ]).toEqual([
        '400 missing_required_field amount',
        '400 missing_required_field shipping_address.zip',
        '400 missing_required_field shipping_address',
        '400 missing_required_field form_data.size',
        '400 invalid_field_value form_data.size',
      ]);
      expect((await opened(good)).form_data).toEqual({ size: 'S' });
    });

    test('keeps the labels of the form as they were', async ({ merchant, opened }) => {
      const schema = (label: string) => ({
        form_schema: { fields: [{ id: 'size', type: 'text', label, required: false }] },
      });
      const link = await merchant.post('/api/v1/payment-links', {
        ...OWN,
        name: 'Shirt',
        ...schema('Which size?'),
      });
      const payment_link_id = text(record(link.body).id);
      const { id } = await opened({ payment_link_id, form_data: { size: 'XL' } });

      const changed = await merchant.patch(
        `/api/v1/payment-links/${payment_link_id}`,
        schema('Which colour?'),
      );

      expect(changed.status).toBe(200);
      expect((await merchant.get(`${PATH}/${text(id)}`)).body).toMatchObject({
        form_data: { size: 'XL' },
        form_labels: { size: 'Which size?' },
      });
    });

    test('of an unavailable link is refused as invalid_status_transition', async ({ linked, refused }) => {
      const { id } = await linked({ isActive: false });

      expect(await refused({ payment_link_id: id })).toBe('400 invalid_status_transition');
    });

    test('of another organization’s link answers exactly like one of a missing link', async ({
      api,
      merchant,
      linked,
    }) => {
      const others = await api.merchant();
      const live = await linked({ chainId: LIVE_CHAIN }, { ...merchant.owner, mode: 'live' });
      const theirs = await linked({}, others.owner);
      const missing = 'pl_000000000000000000000000';
      const answers = await Promise.all(
        [theirs.id, live.id, missing].map(async payment_link_id =>
          masked(await merchant.post(PATH, { payment_link_id }), payment_link_id),
        ),
      );

      expect(answers[0]).toMatchObject({ status: 404, body: { error: { code: 'resource_not_found' } } });
      expect(answers[1]).toEqual(answers[0]);
      expect(answers[2]).toEqual(answers[0]);
    });

    test('happens once per idempotency key', async ({ merchant }) => {
      const body = { ...OWN, amount: '123456' };
      const headers = { 'Idempotency-Key': 'order-77' };

      const first = await merchant.post(PATH, body, headers);
      const second = await merchant.post(PATH, body, headers);

      expect(second.headers.get('idempotent-replayed')).toBe('true');
      expect([second.status, second.body]).toEqual([201, first.body]);
    });

    test('needs a key with write permission', async ({ api, merchant }) => {
      const reader = await merchant.withKey({ permission: 'read' });

      expect(errorOf(await reader.post(PATH, OWN))).toBe('403 insufficient_permissions');
      expect(errorOf(await api.payer.post(PATH, OWN))).toBe('401 key_missing');
    });
  });

  describe('reading', () => {
    test('a session by its id answers the created session', async ({ merchant, opened }) => {
      const session = await opened({ ...OWN, customerName: 'Ada', metadata: { a: 'b' } });

      expect((await merchant.get(`${PATH}/${session.id}`)).body).toEqual(session);
    });

    test('another organization’s session, one of the other mode and any other text answer like a missing one', async ({
      api,
      merchant,
      opened,
    }) => {
      const others = await api.merchant();
      const { id: theirs } = await opened(OWN, others);
      const live = await merchant.withKey({ mode: 'live' });
      const { id: ours } = await opened();
      const get = async (id: unknown, by: { get: typeof merchant.get } = merchant) =>
        masked(await by.get(`${PATH}/${id}`), `${id}`);

      const missing = await get(MISSING);

      expect(missing).toMatchObject({ status: 404 });
      expect(await get(theirs)).toEqual(missing);
      expect(await get(ours, live)).toEqual(missing);
      expect(await get('pl_1')).toEqual(missing);
      expect(await get('x'.repeat(200))).toEqual(missing);
    });

    test('lists are filtered by state, link and time, newest first', async ({ api, linked, opened }) => {
      const by = await api.merchant();
      const link = await linked({}, by.owner);
      const start = api.clock.now();
      const oldest = await opened(OWN, by);
      api.clock.advance(1000);
      const middle = await opened({ payment_link_id: link.id }, by);
      api.clock.advance(1000);
      const newest = await opened(OWN, by);
      await by.post(`${PATH}/${oldest.id}/expire`);
      const found = async (query: string) => idsOf(await by.get(`${PATH}?${query}`));
      const second = new Date(start + 1000).toISOString();

      expect(await found('')).toEqual([newest.id, middle.id, oldest.id]);
      expect(await found('status=expired')).toEqual([oldest.id]);
      expect(await found('status=active')).toEqual([newest.id, middle.id]);
      expect(await found('outcome=expired')).toEqual([oldest.id]);
      expect(await found('outcome=waiting')).toEqual([newest.id, middle.id]);
      expect(await found(`outcome=waiting&payment_link_id=${link.id}`)).toEqual([middle.id]);
      expect(await found('outcome=paid')).toEqual([]);
      expect(await found(`payment_link_id=${link.id}`)).toEqual([middle.id]);
      expect(await found('payment_link_id=anything')).toEqual([]);
      expect(await found(`from=${second}`)).toEqual([newest.id, middle.id]);
      expect(await found(`to=${second}`)).toEqual([oldest.id]);
      expect(await found(`from=${second}&to=${second}`)).toEqual([]);
      expect(await found('limit=2&page=2')).toEqual([oldest.id]);
      expect((await by.get(`${PATH}?limit=2&page=1`)).body).toMatchObject({
        object: 'list',
        has_more: true,
        total_count: 3,
        url: PATH,
      });
    });

    test('a list accepts times with any UTC offset and truncates them to milliseconds', async ({
      api,
      opened,
    }) => {
      const by = await api.merchant();
      const { id, created_at } = await opened(OWN, by);
      const ms = Date.parse(text(created_at));
      const shifted = `${new Date(ms + 5.5 * 3_600_000).toISOString().slice(0, -1)}999+05:30`;

      const found = await by.get(`${PATH}?from=${encodeURIComponent(shifted)}`);

      expect(idsOf(found)).toEqual([id]);
    });

    test('an invalid filter is named in the error', async ({ merchant }) => {
      const wrong = async (query: string) => errorOf(await merchant.get(`${PATH}?${query}`));

      const queries = ['status=open', 'outcome=lost', 'from=yesterday', 'limit=101'];
      expect(await Promise.all(queries.map(wrong))).toEqual([
        '400 invalid_field_value status',
        '400 invalid_field_value outcome',
        '400 invalid_field_value from',
        '400 invalid_field_value limit',
      ]);
    });
  });

  describe('manual expiry', () => {
    test('ends an active session once and records an event', async ({ api, opened }) => {
      const by = await api.merchant();
      const session = await opened(OWN, by);

      const ended = await by.post(`${PATH}/${session.id}/expire`);
      const again = await by.post(`${PATH}/${session.id}/expire`);

      expect(ended.body).toMatchObject({ id: session.id, status: 'expired' });
      expect(errorOf(again)).toBe('400 invalid_status_transition');
      expect((await by.get('/api/v1/events')).body).toMatchObject({
        data: [{ event: 'checkout.expired', data: { id: session.id } }],
      });
    });

    test('of a session with a confirming payment is refused as invalid_status_transition', async ({
      api,
      merchant,
      opened,
    }) => {
      const session = await opened({ ...OWN, amount: '31337' });
      const payment = aPayment({ amount: 31_337n, blockTime: api.clock.now() });
      await api.settle(settled =>
        settled.recordTransfer({ id: text(session.id) }, payment, { matchedBy: 'amount', confirmations: 1 }),
      );

      expect(errorOf(await merchant.post(`${PATH}/${session.id}/expire`))).toBe(
        '400 invalid_status_transition',
      );
      expect((await merchant.get(`${PATH}/${session.id}`)).body).toMatchObject({
        status: 'active',
        payment_status: 'confirming',
      });
    });

    test('of another organization’s session answers exactly like that of a missing one', async ({
      api,
      merchant,
      opened,
    }) => {
      const others = await api.merchant();
      const { id } = await opened(OWN, others);
      const end = async (one: unknown) => masked(await merchant.post(`${PATH}/${one}/expire`), `${one}`);

      expect(await end(id)).toEqual(await end(MISSING));
      expect((await others.get(`${PATH}/${id}`)).body).toMatchObject({ status: 'active' });
    });
  });
});
