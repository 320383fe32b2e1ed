import { expect } from 'vitest';
import { execute } from '#db/query.ts';
import { transferStore } from '#payments/store/transfer-store.ts';
import { record, text } from '../../lab/json.ts';
import { allDue } from '../../lab/payments-records.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import { aPayment, errorOf, idsOf, type Merchant, masked, PLACE } from '../../support/payments-api.ts';

const PATH = '/api/v1/unmatched-transfers';
const TERMS = { ...PLACE, amount: '1000' };
const MISSING = 'utr_000000000000000000000000';

eachPaymentsApi('unmatched transfers', apiTest => {
  async function opened(merchant: Merchant, changes: object = {}): Promise<string> {
    const { body } = await merchant.post('/api/v1/checkout-sessions', { ...TERMS, ...changes });
    return text(record(body).id);
  }
  const assign = (merchant: Merchant, id: string, session_id: string) =>
    merchant.post(`${PATH}/${id}/assign`, { session_id });

  const test = apiTest
    /** A transfer to a merchant's recipient that matched nothing. */
    .extend(
      'unmatched',
      ({ api }) =>
        async ({ owner }: Merchant, changes: object = {}, isConfirmed = true): Promise<string> => {
          const store = transferStore(api.db);
          const transfer = aPayment({ amount: 1003n, blockTime: api.clock.now(), ...changes });
          await store.upsert(owner, { suggestedSessionId: null, ...transfer }, api.clock.now());
          const all = await store.unconfirmed(allDue(transfer.chainId));
          const kept = all.filter(({ txHash }) => txHash === transfer.txHash);
          if (isConfirmed) await store.confirm(kept, api.clock.now());
          return kept[0]?.id ?? 'none';
        },
    );

  test('are listed newest first, once they are confirmed', async ({ api, unmatched }) => {
    const merchant = await api.merchant();
    const old = await unmatched(merchant, { logIndex: -1 });
    api.clock.advance(1000);
    const recent = await unmatched(merchant);
    await unmatched(merchant, {}, false);

    const answer = await merchant.get(PATH);

    expect(idsOf(answer)).toEqual([recent, old]);
    expect(answer.body).toMatchObject({
      object: 'list',
      total_count: 2,
      url: PATH,
      data: [
        {
          object: 'unmatched_transfer',
          mode: 'test',
          status: 'open',
          ...PLACE,
          amount: '1003',
          log_index: 1,
          block_number: 7,
          block_timestamp: new Date(api.clock.now()).toISOString(),
          suggested_session_id: null,
          session_id: null,
          transaction_id: null,
          assigned_at: null,
        },
        { log_index: null },
      ],
    });
  });

  test('suggest the session they were probably meant for', async ({ api, unmatched }) => {
    const merchant = await api.merchant();
    const suggestedSessionId = await opened(merchant);
    await unmatched(merchant, { suggestedSessionId });

    expect((await merchant.get(PATH)).body).toMatchObject({
      data: [{ suggested_session_id: suggestedSessionId, session_id: null }],
    });
  });

  test('are found by what the chain says of them, and by the checkout they may be meant for', async ({
    api,
    unmatched,
  }) => {
    const merchant = await api.merchant();
    const session = await opened(merchant, { clientReferenceId: 'Order-77' });
    const payment = aPayment({ amount: 7_250_000n, blockTime: api.clock.now() });
    const id = await unmatched(merchant, { ...payment, suggestedSessionId: session });
    await unmatched(merchant);
    // A transfer is recorded by a watcher, which has a place on its chain.
    await execute(api.db, 'insert into chain_cursors (chain_id, block_number, scanned_at) values (?, 7, 1)', [
      payment.chainId,
    ]);
    const found = async (text: string) =>
      idsOf(await merchant.get(`${PATH}?query=${encodeURIComponent(text)}`));

    for (const text of [id, session, payment.txHash, '7.25', '7,25 usdc', 'order-77'])
      expect(await found(text), text).toEqual([id]);
    expect(await found(payment.sender.toUpperCase().replace('0X', '0x'))).toContain(id);
    expect(await found(payment.recipient)).toContain(id);
    expect(await found('')).toHaveLength(2);
    for (const text of ['7.251', 'order-7', 'nobody@books.example', MISSING])
      expect(await found(text), text).toEqual([]);
    expect(idsOf(await merchant.get(`${PATH}?query=7.25&status=assigned`))).toEqual([]);

    const { body: assigned } = await assign(merchant, id, session);
    expect(await found('order-77')).toEqual([id]);
    expect(await found(text(record(assigned).id))).toEqual([id]);
    expect(await found(session)).toEqual([id]);
  });

  test('continue after a page by its cursor, whatever is recorded meanwhile', async ({ api, unmatched }) => {
    const merchant = await api.merchant();
    const old = await unmatched(merchant);
    api.clock.advance(1000);
    const recent = await unmatched(merchant);

    const first = await merchant.get(`${PATH}?limit=1`);
    api.clock.advance(1000);
    await unmatched(merchant);
    const next = await merchant.get(`${PATH}?limit=1&cursor=${text(record(first.body).next_cursor)}`);

    expect([idsOf(first), idsOf(next)]).toEqual([[recent], [old]]);
    expect(next.body).toMatchObject({ has_more: false, next_cursor: null });
    expect(errorOf(await merchant.get(`${PATH}?cursor=abc`))).toBe('400 invalid_field_value cursor');
  });

  test('become payments of the session they are assigned to', async ({ api, unmatched }) => {
    const merchant = await api.merchant();
    const session = await opened(merchant, { metadata: { order: '9' } });
    const [id, open] = [await unmatched(merchant), await unmatched(merchant)];

    const { status, body } = await assign(merchant, id, session);

    expect(status).toBe(200);
    expect(body).toMatchObject({
      session_id: session,
      status: 'completed',
      matched_by: 'assignment',
      amount: '1003',
      metadata: { order: '9' },
    });
    expect((await merchant.get(`/api/v1/checkout-sessions/${session}`)).body).toMatchObject({
      status: 'completed',
      transaction_id: record(body).id,
    });
    expect((await merchant.get(`${PATH}?status=assigned`)).body).toMatchObject({
      data: [{ id, status: 'assigned', session_id: session, transaction_id: record(body).id }],
    });
    expect(idsOf(await merchant.get(`${PATH}?status=open&chain_id=${PLACE.chain_id}`))).toEqual([open]);
    expect(idsOf(await merchant.get(`${PATH}?chain_id=1`))).toEqual([]);
  });

  test('assigned to an ended session are late payments', async ({ api, unmatched }) => {
    const merchant = await api.merchant();
    const session = await opened(merchant);
    await merchant.post(`/api/v1/checkout-sessions/${session}/expire`);

    const { body } = await assign(merchant, await unmatched(merchant), session);

    expect(body).toMatchObject({ status: 'completed', late: true });
  });

  test('cannot be assigned twice', async ({ api, unmatched }) => {
    const merchant = await api.merchant();
    const [first, second] = [await opened(merchant), await opened(merchant)];
    const id = await unmatched(merchant);
    await assign(merchant, id, first);

    expect(errorOf(await assign(merchant, id, second))).toBe('400 invalid_status_transition');
    expect(errorOf(await assign(merchant, id, first))).toBe('400 invalid_status_transition');
  });

  test('can be assigned only to sessions with the same chain, token and recipient', async ({
    api,
    unmatched,
  }) => {
    const merchant = await api.merchant();
    const id = await unmatched(merchant);
    const token = await opened(merchant, { token_address: `0x${'0'.repeat(40)}` });
    const recipient = await opened(merchant, { recipient_address: `0x${'77'.repeat(20)}` });

    expect(errorOf(await assign(merchant, id, token))).toBe('400 invalid_field_value session_id');
    expect(errorOf(await assign(merchant, id, recipient))).toBe('400 invalid_field_value session_id');
    expect(errorOf(await merchant.post(`${PATH}/${id}/assign`, {}))).toBe(
      '400 missing_required_field session_id',
    );
    expect(idsOf(await merchant.get(`${PATH}?status=open`))).toEqual([id]);
  });

  test('of another organization or mode, or not yet confirmed, answer exactly like missing ones', async ({
    api,
    unmatched,
  }) => {
    const [merchant, others] = [await api.merchant(), await api.merchant()];
    const session = await opened(merchant);
    const [theirs, early] = [await unmatched(others), await unmatched(merchant, {}, false)];
    const answer = async (id: string) => masked(await assign(merchant, id, session), id);

    const missing = await answer(MISSING);

    expect(missing).toMatchObject({ status: 404, body: { error: { code: 'resource_not_found' } } });
    expect(await answer(theirs)).toEqual(missing);
    expect(await answer(early)).toEqual(missing);
    expect(idsOf(await others.get(PATH))).toEqual([theirs]);
  });

  test('assigned to another organization’s session answer exactly like to a missing one', async ({
    api,
    unmatched,
  }) => {
    const [merchant, others] = [await api.merchant(), await api.merchant()];
    const id = await unmatched(merchant);
    const answer = async (session: string) => masked(await assign(merchant, id, session), session);

    const theirs = await answer(await opened(others));

    expect(theirs).toEqual(await answer('cs_000000000000000000000000'));
    expect(idsOf(await merchant.get(`${PATH}?status=open`))).toEqual([id]);
  });

  test('can be read by keys that may not assign them', async ({ api, unmatched }) => {
    const merchant = await api.merchant();
    const id = await unmatched(merchant);
    const reader = await merchant.withKey({ permission: 'read' });

    expect(idsOf(await reader.get(PATH))).toEqual([id]);
    expect(errorOf(await reader.post(`${PATH}/${id}/assign`, {}))).toBe('403 insufficient_permissions');
  });
});
