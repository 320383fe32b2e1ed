import { afterEach, beforeEach, expect, test } from 'vitest';
import { rowsOf } from '../../src/db/query.ts';
import { transaction } from '../../src/db/transaction.ts';
import { newId } from '../../src/lib/ids.ts';
import { retentionWorker } from '../../src/payments/retention.ts';
import { sessionStore } from '../../src/payments/sessions/session-store.ts';
import { transferStore } from '../../src/payments/store/transfer-store.ts';
import { watchedStore } from '../../src/payments/store/watched-store.ts';
import { list, record, text } from '../lab/json.ts';
import { allDue } from '../lab/payments-records.ts';
import { aSession } from '../lab/payments-sessions.ts';
import { bothDatabases } from '../support/databases.ts';
import {
  aPayment,
  idsOf,
  type Merchant,
  type PaymentsApi,
  PLACE,
  RECIPIENT,
  someHash,
  startPaymentsApi,
  TEST_CHAIN,
} from '../support/payments-api.ts';

const DAY = 24 * 60 * 60 * 1000;
const SESSIONS = '/api/v1/checkout-sessions';

bothDatabases('the retention', databases => {
  let api: PaymentsApi;
  let merchant: Merchant;
  beforeEach(async () => {
    api = await startPaymentsApi(await databases.create('payments'));
    merchant = await api.merchant();
  });
  afterEach(() => api[Symbol.asyncDispose]());

  async function opened(recipient_address = RECIPIENT): Promise<string> {
    const terms = { ...PLACE, recipient_address, amount: '4000' };
    const answer = await merchant.post(SESSIONS, { ...terms, customerEmail: 'ada@example.com' });
    expect(answer.status).toBe(201);
    return text(record(answer.body).id);
  }
  async function ended(): Promise<string> {
    const id = await opened();
    expect((await merchant.post(`${SESSIONS}/${id}/expire`)).status).toBe(200);
    return id;
  }
  const simulate = (id: string, outcome: string) =>
    merchant.post(`/api/v1/test/sessions/${id}/simulate`, { outcome });
  /** Runs a separate worker until nothing is left to remove. */
  async function tidy(): Promise<number[]> {
    const worker = retentionWorker({ ...api, unpaidSessionsMs: 30 * DAY });
    const removed: number[] = [];
    for (let last = 1; last > 0; removed.push(last))
      last = await worker.runOnce(new AbortController().signal);
    return removed;
  }
  const watched = async () =>
    (await watchedStore(api.db).recipients(TEST_CHAIN)).map(one => one.recipientAddress);
  const allSessions = async () => idsOf(await merchant.get(`${SESSIONS}?limit=100`)).sort();

  test('unpaid sessions are removed 30 days after their end, and paid ones stay with all their records', async () => {
    const paid = await opened();
    await simulate(paid, 'completed');
    const partial = await opened();
    await simulate(partial, 'underpaid');
    await merchant.post(`${SESSIONS}/${partial}/expire`);
    const failed = await opened();
    await simulate(failed, 'failed');
    await merchant.post(`${SESSIONS}/${failed}/expire`);
    const unpaid = await ended();
    api.clock.advance(30 * DAY);
    await tidy();
    const before = await allSessions();
    api.clock.advance(1);
    const open = await opened();

    await tidy();

    const transactions = list(record((await merchant.get('/api/v1/transactions')).body).data);
    expect(before).toEqual([paid, partial, failed, unpaid].sort());
    expect(await allSessions()).toEqual([paid, partial, open].sort());
    expect((await merchant.get(`${SESSIONS}/${unpaid}`)).status).toBe(404);
    expect(transactions.map(one => record(one).status).sort()).toEqual(['completed', 'completed']);
    expect(idsOf(await merchant.get('/api/v1/events?limit=100')).length).toBeGreaterThan(4);
  });

  test('an expired session stays with a pending, confirming or late payment', async () => {
    const [pending, confirming, late, unpaid] = [
      await opened(),
      await opened(),
      await opened(),
      await opened(),
    ];
    const sight = (id: string) => {
      const payment = aPayment({ blockTime: api.clock.now() });
      return api.settle(settled =>
        settled.recordTransfer({ id }, payment, { matchedBy: 'wallet', confirmations: 1 }),
      );
    };
    await api.settle(settled => settled.claim({ id: pending }, someHash()));
    for (const id of [pending, confirming, late, unpaid]) await merchant.post(`${SESSIONS}/${id}/expire`);
    await sight(confirming);
    const { id: lateId } = await sight(late);
    await api.settle(settled => settled.complete(lateId));
    api.clock.advance(31 * DAY);

    await tidy();

    const transactions = list(record((await merchant.get('/api/v1/transactions')).body).data).map(record);
    const statuses = new Map(transactions.map(one => [one.session_id, one.status]));
    expect(await allSessions()).toEqual([pending, confirming, late].sort());
    expect([pending, confirming, late].map(id => statuses.get(id))).toEqual([
      'pending',
      'confirming',
      'completed',
    ]);
  });

  test('an unmatched transfer stays listed after its suggested session is removed', async () => {
    const id = await ended();
    const payment = aPayment({ blockTime: api.clock.now(), amount: 3_999n });
    const transfers = transferStore(api.db);
    await transfers.upsert(merchant.owner, { ...payment, suggestedSessionId: id }, api.clock.now());
    const [kept] = await transfers.unconfirmed(allDue(TEST_CHAIN));
    await transfers.confirm(kept === undefined ? [] : [kept], api.clock.now());
    api.clock.advance(31 * DAY);

    await tidy();

    const answer = await merchant.get('/api/v1/unmatched-transfers');
    const [transfer] = list(record(answer.body).data);
    const assigned = await merchant.post(`/api/v1/unmatched-transfers/${kept?.id}/assign`, {
      session_id: id,
    });
    expect(record(transfer)).toMatchObject({ status: 'open', suggested_session_id: null });
    expect(assigned.status).toBe(404);
  });

  test('a recipient is watched until the retention time after its last session, and again from the next one', async () => {
    const other = `0x${someHash().slice(-40)}`;
    await opened(other);
    await ended();
    api.clock.advance(20 * DAY);
    await ended();
    api.clock.advance(11 * DAY);
    await tidy();
    const early = await watched();
    api.clock.advance(21 * DAY);

    await tidy();

    const open = await watched();
    await opened();
    expect(early.sort()).toEqual([RECIPIENT, other].sort());
    // Its session never expired, because its chain was not read.
    expect(open).toEqual([other]);
    expect((await watched()).sort()).toEqual([RECIPIENT, other].sort());
  });

  test('a recipient keeps its owner after all its sessions are removed', async () => {
    const address = `0x${someHash().slice(-40)}`;
    const first = await opened(address);
    await merchant.post(`${SESSIONS}/${first}/expire`);
    const stranger = await api.merchant();
    api.clock.advance(400 * DAY);
    await tidy();

    const terms = { ...PLACE, recipient_address: address, amount: '4000' };
    const [ofStranger, ofOwner] = [
      await stranger.post(SESSIONS, terms),
      await merchant.post(SESSIONS, terms),
    ];

    expect((await merchant.get(`${SESSIONS}/${first}`)).status).toBe(404);
    expect(record(ofStranger.body).payment_uri).toBeNull();
    expect(record(ofOwner.body).payment_uri).toContain('transfer');
  });

  test('a thousand sessions are removed in batches, over all organizations and modes', async () => {
    const live = await api.merchant('live');
    const end = { status: 'expired', endedAt: api.clock.now(), isWalletOnly: true } as const;
    await transaction(api.db, async handle => {
      for (let count = 0; count < 1_002; count += 1) {
        const { owner } = count % 2 === 0 ? merchant : live;
        const draft = {
          ...aSession(owner),
          id: newId('cs'),
          tokenDecimals: 6,
          amount: BigInt(count + 1) * 10_000n,
        };
        await sessionStore(handle, api.seals).open({ ...draft, ...end });
      }
    });
    api.clock.advance(31 * DAY);

    const removed = await tidy();

    expect(removed.slice(0, 3)).toEqual([500, 500, 2]);
    expect(await rowsOf(api.db, 'select id from checkout_sessions')).toEqual([]);
  });

  test('only one process removes at a time', async () => {
    await ended();
    api.clock.advance(31 * DAY);
    const workers = [retentionWorker(api), retentionWorker(api), retentionWorker(api)];

    const removed = await Promise.all(workers.map(worker => worker.runOnce(new AbortController().signal)));

    expect(removed.sort()).toEqual([0, 0, 1]);
  });
});
