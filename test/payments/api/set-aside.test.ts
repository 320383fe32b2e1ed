import { expect } from 'vitest';
import { transaction } from '#db/transaction.ts';
import { DAY_MS } from '#lib/clock.ts';
import { setAsideBlockStore } from '#payments/store/set-aside-block-store.ts';
import { setAsideStore } from '#payments/store/set-aside-store.ts';
import { transferStore } from '#payments/store/transfer-store.ts';
import { record, text } from '../../lab/json.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import { aPayment, errorOf, idsOf, type Merchant, PLACE } from '../../support/payments-api.ts';

const PATH = '/api/v1/set-aside-transactions';
const TRANSFERS = '/api/v1/unmatched-transfers';
const MINUTE_MS = 60_000;

eachPaymentsApi('set-aside transactions', apiTest => {
  const test = apiTest
    /** Sets a transaction aside, as a watcher does. */
    .extend('setAside', ({ api }) => (txHash: string, chainId = PLACE.chain_id) => {
      const unread = { txHash, reason: 'too_large' } as const;
      return transaction(api.db, handle => setAsideStore(handle).add(chainId, unread, api.clock.now()));
    })
    /** A transfer of a set-aside transaction to a merchant's recipient that matched nothing. Returns its hash. */
    .extend('unmatched', ({ api, setAside }) => async ({ owner }: Merchant): Promise<string> => {
      const transfer = aPayment({ amount: 77n, blockTime: api.clock.now() });
      await transferStore(api.db).upsert(owner, { suggestedSessionId: null, ...transfer }, api.clock.now());
      await setAside(transfer.txHash);
      return transfer.txHash;
    })
    /** A payment of a session in a set-aside transaction. Returns the session and the hash. */
    .extend('paid', ({ api, setAside }) => async (merchant: Merchant) => {
      const { body } = await merchant.post('/api/v1/checkout-sessions', { ...PLACE, amount: '1000' });
      const id = text(record(body).id);
      const payment = aPayment({ amount: 1000n, blockTime: api.clock.now() });
      await api.settle(settled =>
        settled.recordTransfer({ id }, payment, { matchedBy: 'amount', confirmations: 1 }),
      );
      await setAside(payment.txHash);
      return { id, hash: payment.txHash };
    });

  test('are listed with their reason, sessions and number of unmatched transfers', async ({
    api,
    paid,
    unmatched,
  }) => {
    const merchant = await api.merchant();
    const { id, hash } = await paid(merchant);
    const at = new Date(api.clock.now()).toISOString();
    api.clock.advance(MINUTE_MS);
    const other = await unmatched(merchant);

    expect((await merchant.get(PATH)).body).toMatchObject({
      total_count: 2,
      url: PATH,
      data: [
        { tx_hash: other, session_ids: [], unmatched_transfers: 1 },
        {
          object: 'set_aside_transaction',
          mode: 'test',
          chain_id: PLACE.chain_id,
          tx_hash: hash,
          reason: 'too_large',
          attempts: 1,
          session_ids: [id],
          unmatched_transfers: 0,
          set_aside_at: at,
          attempted_at: at,
          next_attempt_at: new Date(Date.parse(at) + MINUTE_MS).toISOString(),
        },
      ],
    });
    expect((await merchant.get(`${PATH}?session_id=${id}`)).body).toMatchObject({
      data: [{ tx_hash: hash }],
    });
    expect(idsOf(await merchant.get(`${PATH}?chain_id=1`))).toEqual([]);
  });

  test('of others are neither listed nor retried', async ({ api, unmatched, setAside }) => {
    const [merchant, other] = [await api.merchant(), await api.merchant()];
    await unmatched(other);
    await setAside(`0x${'ab'.repeat(32)}`);
    api.clock.advance(30_000);

    const { body } = await merchant.post(`${PATH}/retry`);

    expect(body).toEqual({ object: 'set_aside_retry', count: 0 });
    expect(idsOf(await merchant.get(PATH))).toEqual([]);
    expect(idsOf(await merchant.get(TRANSFERS))).toEqual([]);
    expect((await other.get(PATH)).body).toMatchObject({
      data: [{ next_attempt_at: new Date(api.clock.now() + 30_000).toISOString() }],
    });
  });

  test('are due at once after a retry, but not within ten seconds of an attempt', async ({
    api,
    paid,
    unmatched,
  }) => {
    const merchant = await api.merchant();
    await paid(merchant);
    api.clock.advance(30_000);
    await unmatched(merchant);
    const now = api.clock.now();

    const { status, body } = await merchant.post(`${PATH}/retry`);

    expect([status, body]).toEqual([200, { object: 'set_aside_retry', count: 2 }]);
    expect((await merchant.get(PATH)).body).toMatchObject({
      data: [now + 10_000, now].map(time => ({ next_attempt_at: new Date(time).toISOString() })),
    });
  });

  test('are retried with the blocks that are set aside on the chains of the organization’s sessions', async ({
    api,
  }) => {
    const [merchant, other] = [await api.merchant(), await api.merchant()];
    await merchant.post('/api/v1/checkout-sessions', { ...PLACE, amount: '1000' });
    const store = setAsideBlockStore(api.db);
    const begun = api.clock.now();
    const block = { part: 'coins', number: 7, hash: `0x${'b7'.repeat(32)}`, time: begun } as const;
    await store.add(PLACE.chain_id, [{ ...block, reason: 'refused' }], begun);
    const [added] = await store.all(PLACE.chain_id);
    if (added !== undefined) await store.progress(added, { ...added, nextAttemptAt: begun + DAY_MS }, begun);
    const nextAttempt = async () => (await store.all(PLACE.chain_id))[0]?.nextAttemptAt;

    api.clock.advance(MINUTE_MS);
    await other.post(`${PATH}/retry`);
    const afterOther = await nextAttempt();
    const { body } = await merchant.post(`${PATH}/retry`);

    expect(afterOther).toBe(begun + DAY_MS);
    expect(body).toEqual({ object: 'set_aside_retry', count: 0 });
    expect(await nextAttempt()).toBe(api.clock.now());
  });

  test('show their unmatched transfers before they are confirmed, which cannot be assigned', async ({
    api,
    unmatched,
  }) => {
    const merchant = await api.merchant();
    const hash = await unmatched(merchant);
    const { body } = await merchant.post('/api/v1/checkout-sessions', { ...PLACE, amount: '1000' });
    const session_id = text(record(body).id);

    const all = await merchant.get(TRANSFERS);
    const [id] = idsOf(all);

    expect(all.body).toMatchObject({ data: [{ tx_hash: hash, status: 'set_aside', amount: '77' }] });
    expect(idsOf(await merchant.get(`${TRANSFERS}?status=set_aside`))).toEqual([id]);
    expect(idsOf(await merchant.get(`${TRANSFERS}?status=open`))).toEqual([]);
    expect(errorOf(await merchant.post(`${TRANSFERS}/${id}/assign`, { session_id }))).toBe(
      '400 invalid_status_transition',
    );
  });
});
