import { expect } from 'vitest';
import { linkStore } from '#payments/store/link-store.ts';
import { record, text } from '../../lab/json.ts';
import { aLink } from '../../lab/payments-records.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import { aPayment, errorOf, idsOf, type Merchant, masked, TEST_CHAIN } from '../../support/payments-api.ts';

const PATH = '/api/v1/transactions';
const SENDER = `0x${'c1'.repeat(20)}`;

eachPaymentsApi('transactions', apiTest => {
  const test = apiTest
    /** A session of a new link, with the payer's answers. */
    .extend('opened', ({ api }) => async (merchant: Merchant) => {
      const size = { id: 'size', type: 'text', label: 'Size', required: true, placeholder: null } as const;
      const link = aLink(merchant.owner, {
        formSchema: { fields: [{ ...size, options: [] }] },
        collectShippingAddress: true,
        shippingOptions: [{ id: 'post', name: 'Post', amount: '500', estimated_days: 3 }],
      });
      await linkStore(api.db).insert(link);
      const { body } = await merchant.post('/api/v1/checkout-sessions', {
        payment_link_id: link.id,
        metadata: { order: '7' },
        form_data: { size: 'M' },
        shipping_option_id: 'post',
        shipping_address: { line1: '12 St James’s Square', city: 'London', zip: 'SW1Y 4JH' },
      });
      return { linkId: link.id, session: record(body), id: text(record(body).id) };
    })
    /** Pays a session; the transaction needs one more confirmation. */
    .extend(
      'paid',
      ({ api }) =>
        (session: Record<string, unknown>) =>
          api.settle(settled =>
            settled.recordTransfer(
              { id: text(session.id) },
              aPayment({ amount: BigInt(text(session.amount_due)), blockTime: api.clock.now() }),
              { matchedBy: 'amount', confirmations: 1 },
            ),
          ),
    );

  test('a transaction has the transfer and the payer’s answers', async ({ api, opened, paid }) => {
    const merchant = await api.merchant();
    const { session, id, linkId } = await opened(merchant);
    const { id: transactionId, txHash, blockHash } = await paid(session);
    const { body } = await merchant.get(`${PATH}/${transactionId}`);

    expect(body).toMatchObject({
      object: 'transaction',
      id: transactionId,
      mode: 'test',
      status: 'confirming',
      payment_link_id: linkId,
      session_id: id,
      chain_id: TEST_CHAIN,
      amount: session.amount_due,
      sender_address: SENDER,
      tx_hash: txHash,
      log_index: 1,
      block_number: 7,
      block_hash: blockHash,
      confirmations: 1,
      required_confirmations: 2,
      matched_by: 'amount',
      failure_reason: null,
      late: false,
      duplicate: false,
      partial: false,
      overpaid_amount: null,
      form_data: { size: 'M' },
      shipping_address: { line1: '12 St James’s Square', country: null },
      shipping_option: { id: 'post', amount: '500' },
      discount_code: null,
      metadata: { order: '7' },
      confirmed_at: null,
      completed_at: null,
    });
    expect((await merchant.get(PATH)).body).toMatchObject({ data: [body], total_count: 1, url: PATH });
  });

  test('a native coin’s transfer has a null log_index', async ({ api, opened }) => {
    const merchant = await api.merchant();
    const { id } = await opened(merchant);
    const payment = aPayment({ logIndex: -1, blockTime: api.clock.now() });
    const transaction = await api.settle(settled =>
      settled.recordTransfer({ id }, payment, { matchedBy: 'wallet', confirmations: 1 }),
    );

    expect((await merchant.get(`${PATH}/${transaction.id}`)).body).toMatchObject({ log_index: null });
  });

  test('lists are filtered by state, chain, link, session and time, newest first', async ({
    api,
    opened,
    paid,
  }) => {
    const merchant = await api.merchant();
    const first = await opened(merchant);
    const second = await opened(merchant);
    const old = await paid(first.session);
    api.clock.advance(1000);
    const recent = await paid(second.session);
    await api.settle(settled => settled.complete(old.id));
    const found = async (query: string) => idsOf(await merchant.get(`${PATH}?${query}`));
    const moment = new Date(api.clock.now()).toISOString();

    expect(await found('')).toEqual([recent.id, old.id]);
    expect(await found('status=completed')).toEqual([old.id]);
    expect(await found('status=confirming')).toEqual([recent.id]);
    expect(await found('status=failed')).toEqual([]);
    expect(await found(`chain_id=${TEST_CHAIN}`)).toEqual([recent.id, old.id]);
    expect(await found('chain_id=1')).toEqual([]);
    expect(await found(`payment_link_id=${first.linkId}`)).toEqual([old.id]);
    expect(await found(`session_id=${second.id}`)).toEqual([recent.id]);
    expect(await found(`session_id=${second.id}&payment_link_id=${first.linkId}`)).toEqual([]);
    expect(await found(`from=${moment}`)).toEqual([recent.id]);
    expect(await found(`to=${moment}`)).toEqual([old.id]);
    expect(await found('page=3')).toEqual([]);
    expect(await found('limit=1&page=2')).toEqual([old.id]);
  });

  test('another organization’s transaction, one of the other mode and any other text answer like a missing one', async ({
    api,
    opened,
    paid,
  }) => {
    const [ours, others] = [await api.merchant(), await api.merchant()];
    const theirs = await paid((await opened(others)).session);
    const own = await paid((await opened(ours)).session);
    const live = await ours.withKey({ mode: 'live' });
    const get = async (id: string, by: { get: typeof ours.get } = ours) =>
      masked(await by.get(`${PATH}/${id}`), id);

    const missing = await get('txn_000000000000000000000000');

    expect(missing).toMatchObject({ status: 404, body: { error: { code: 'resource_not_found' } } });
    expect(await get(theirs.id)).toEqual(missing);
    expect(await get(own.id, live)).toEqual(missing);
    expect(await get('%20')).toEqual(await get('%20', others));
    expect(idsOf(await ours.get(`${PATH}?session_id=${theirs.sessionId}`))).toEqual([]);
    expect(idsOf(await live.get(PATH))).toEqual([]);
  });

  test('an invalid filter is named in the error', async ({ api }) => {
    const merchant = await api.merchant();
    const wrong = async (query: string) => errorOf(await merchant.get(`${PATH}?${query}`));

    expect([await wrong('status=paid'), await wrong('chain_id=0x1'), await wrong('to=2026')]).toEqual([
      '400 invalid_field_value status',
      '400 invalid_field_value chain_id',
      '400 invalid_field_value to',
    ]);
  });

  test('an unchanged page is answered 304', async ({ api, opened, paid }) => {
    const merchant = await api.merchant();
    await paid((await opened(merchant)).session);
    const { headers } = await merchant.get(PATH);

    const again = await merchant.get(PATH, { 'If-None-Match': headers.get('etag') ?? '' });

    expect(again.status).toBe(304);
    expect(headers.get('cache-control')).toBe('private, no-cache');
  });
});
