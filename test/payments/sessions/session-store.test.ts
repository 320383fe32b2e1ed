import { expect } from 'vitest';
import { uintColumn } from '#db/columns.ts';
import { rowsOf } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import { seals } from '#payments/secrets/sealed.ts';
import type { SessionDraft } from '#payments/sessions/opening.ts';
import { sessionStore } from '#payments/sessions/session-store.ts';
import { settlement } from '#payments/settlement/settlement.ts';
import { linkStore } from '#payments/store/link-store.ts';
import { watchedStore } from '#payments/store/watched-store.ts';
import { aLink, RECORD_TIME } from '../../lab/payments-records.ts';
import { aSession, aTransfer } from '../../lab/payments-sessions.ts';
import { eachPaymentsDatabase } from '../../support/each-payments-database.ts';
import { indexPlans } from '../../support/query-plans.ts';

const SEALED = seals(['a secret that only this test knows, and long']);
const ALL = { page: 1, limit: 100 };
const WALLET = `0x${'aa'.repeat(20)}`;
const OTHER_WALLET = `0x${'bb'.repeat(20)}`;

eachPaymentsDatabase('the checkout sessions', ownedTest => {
  const test = ownedTest
    .extend(
      'store',
      ({ db }) =>
        () =>
          sessionStore(db, SEALED),
    )
    .extend(
      'opened',
      ({ db, owner }) =>
        (changes: Partial<SessionDraft> = {}, whose = owner) =>
          transaction(db, handle => sessionStore(handle, SEALED).open(aSession(whose, changes))),
    )
    .extend(
      'expired',
      ({ db }) =>
        (id: string, now: number) =>
          transaction(db, handle => settlement({ handle, seals: SEALED, now }).expire(id)),
    );

  test('a session is found as opened, and only by its owner', async ({ db, owner, stranger, store }) => {
    const link = aLink(owner);
    await linkStore(db).insert(link);
    const draft = aSession(owner, {
      paymentLinkId: link.id,
      subtotal: 2n ** 255n,
      amount: 2n ** 255n + 1n,
      metadata: { order: '1042' },
      customerEmail: 'ada@example.com',
      customerName: 'Ada Lovelace',
      formData: { size: 'M', gift: true, count: 2 },
      shippingAddress: {
        name: null,
        line1: "12 St James's Square",
        line2: null,
        city: 'London',
        state: null,
        zip: 'SW1Y 4JH',
        country: 'GB',
      },
      shippingOption: { id: 'express', name: 'Express', amount: '1', estimated_days: 2 },
      successUrl: 'https://books.example/thanks',
      clientReferenceId: 'order-1042',
    });

    const session = await transaction(db, handle => sessionStore(handle, SEALED).open(draft));

    const { tokenDecimals: _, ...kept } = draft;
    expect(session).toEqual({
      ...kept,
      amountDue: session.amountDue,
      isWalletOnly: false,
      depositAddress: null,
      customerId: expect.stringMatching(/^cust_/),
    });
    expect(await store().find(owner, session.id)).toEqual(session);
    expect(await store().findById(session.id)).toEqual(session);
    expect(await store().findMany([session.id, 'cs_missing'])).toEqual(new Map([[session.id, session]]));
    expect(await store().find(stranger, session.id)).toBeUndefined();
    expect(await store().find({ ...owner, mode: 'test' }, session.id)).toBeUndefined();
  });

  test('no session is found for no ids, without a statement', async ({ db, store }) => {
    const statements: string[] = [];
    const listener = ({ sql }: { sql: string }) => statements.push(sql);
    db.on('query', listener);

    const found = await store().findMany([]);
    db.off('query', listener);

    expect([found, statements]).toEqual([new Map(), []]);
  });

  test('nothing a customer wrote is readable in the database', async ({ db, opened, expired }) => {
    const { id } = await opened({
      customerEmail: 'ada@example.com',
      customerName: 'Ada Lovelace',
      formData: { size: 'secret-form' },
    });
    await expired(id, RECORD_TIME + 1);

    const tables = ['checkout_sessions', 'events', 'transactions', 'unmatched_transfers'];
    const rows = await Promise.all(tables.map(name => rowsOf(db, `select * from ${name}`)));

    const text = JSON.stringify(rows);
    expect(text).toContain(id);
    expect(text).not.toMatch(/ada@example\.com|Lovelace|secret-form/);
  });

  test('a list has its owner’s sessions, newest first, filtered by status, link and time', async ({
    db,
    owner,
    stranger,
    store,
    opened,
    expired,
  }) => {
    const link = aLink(owner);
    await linkStore(db).insert(link);
    const old = await opened({ createdAt: RECORD_TIME - 10, paymentLinkId: link.id });
    const recent = await opened({ createdAt: RECORD_TIME });
    await opened({}, stranger);
    await expired(old.id, RECORD_TIME + 1);
    const listed = async (filters: Parameters<ReturnType<typeof store>['list']>[1]) =>
      (await store().list(owner, filters, ALL)).data.map(one => one.id);

    expect(await listed({})).toEqual([recent.id, old.id]);
    expect(await listed({ status: 'expired' })).toEqual([old.id]);
    expect(await listed({ paymentLinkId: link.id })).toEqual([old.id]);
    expect(await listed({ from: RECORD_TIME })).toEqual([recent.id]);
    expect(await listed({ to: RECORD_TIME })).toEqual([old.id]);
  });

  test('a list of one outcome has exactly the sessions that show it, a page at a time', async ({
    db,
    owner,
    stranger,
    store,
    opened,
  }) => {
    const link = aLink(owner);
    await linkStore(db).insert(link);
    const late = { status: 'expired', paymentStatus: 'paid', endedReason: 'time' } as const;
    const first = await opened({ ...late, createdAt: RECORD_TIME - 3 });
    const linked = await opened({ ...late, createdAt: RECORD_TIME - 2, paymentLinkId: link.id });
    const last = await opened({ ...late, createdAt: RECORD_TIME - 1 });
    await opened({ ...late, endedReason: 'sold_out' });
    await opened({ ...late, paymentStatus: 'underpaid' });
    await opened();
    await opened(late, stranger);
    const listed = async (filters: object, page: Parameters<ReturnType<typeof store>['list']>[2] = ALL) => {
      const { data, total, hasMore } = await store().list(owner, { outcome: 'paid_late', ...filters }, page);
      return [data.map(one => one.id), total, hasMore];
    };

    expect(await listed({})).toEqual([[last.id, linked.id, first.id], 3, false]);
    expect(await listed({}, { page: 1, limit: 2 })).toEqual([[last.id, linked.id], 3, true]);
    expect(await listed({}, { page: 2, limit: 2 })).toEqual([[first.id], 3, false]);
    expect(await listed({ paymentLinkId: link.id })).toEqual([[linked.id], 1, false]);
    expect(await listed({ status: 'active' })).toEqual([[], 0, false]);
  });

  test('a list of one outcome is read from its index, without a sort', async ({ db, owner, store }) => {
    const page = { page: 3, limit: 1 };
    const plans = await indexPlans(db, () => store().list(owner, { outcome: 'overpaid', to: 9 }, page));

    // The page by its ids, and the number of the sessions.
    expect(plans.match(/sessions_by_outcome/g)).toHaveLength(2);
    expect(plans).not.toMatch(/SCAN checkout_sessions|Seq Scan/);
  });

  test('a newer wallet replaces the previous one until a transfer is seen', async ({ db, store, opened }) => {
    const { id } = await opened();
    const bound = await store().bindWallet(id, WALLET, RECORD_TIME + 1);
    const replaced = await store().bindWallet(id, OTHER_WALLET, RECORD_TIME + 2);
    await transaction(db, handle =>
      settlement({ handle, seals: SEALED, now: RECORD_TIME + 3 }).recordTransfer(
        { id },
        aTransfer({ sender: OTHER_WALLET }),
        { matchedBy: 'wallet', confirmations: 1 },
      ),
    );

    const late = await store().bindWallet(id, WALLET, RECORD_TIME + 4);
    const repeated = await store().bindWallet(id, OTHER_WALLET, RECORD_TIME + 5);

    expect(bound?.payerAddress).toBe(WALLET);
    expect(replaced?.payerAddress).toBe(OTHER_WALLET);
    expect(late).toBeUndefined();
    expect(repeated?.updatedAt).toBe(RECORD_TIME + 3);
  });

  test('no other wallet signs first once the exact amount was paid, unless the merchant assigned it', async ({
    db,
    store,
    opened,
  }) => {
    const bound = async (matchedBy: 'amount' | 'assignment' | 'deposit_address', sender: string) => {
      const { id } = await opened();
      await transaction(db, handle =>
        settlement({ handle, seals: SEALED, now: RECORD_TIME + 3 }).recordTransfer(
          { id },
          aTransfer({ sender }),
          { matchedBy, confirmations: 1 },
        ),
      );
      return (await store().bindWallet(id, WALLET, RECORD_TIME + 4))?.signedAddress;
    };

    expect(await bound('amount', OTHER_WALLET)).toBeUndefined();
    expect(await bound('amount', WALLET)).toBe(WALLET);
    expect(await bound('assignment', OTHER_WALLET)).toBe(WALLET);
    expect(await bound('deposit_address', OTHER_WALLET)).toBe(WALLET);
  });

  test('an ended session accepts only the wallet it already has', async ({ store, opened, expired }) => {
    const { id } = await opened({ signedAddress: WALLET, payerAddress: WALLET });
    await expired(id, RECORD_TIME + 1);

    expect(await store().bindWallet(id, OTHER_WALLET, RECORD_TIME + 2)).toBeUndefined();
    expect((await store().bindWallet(id, WALLET, RECORD_TIME + 2))?.status).toBe('expired');
  });

  test('active and recently ended sessions are found by payer and by exact amount', async ({
    db,
    owner,
    store,
    opened,
    expired,
  }) => {
    const place = aSession(owner);
    const forgotten = await opened({ signedAddress: WALLET, payerAddress: WALLET });
    await expired(forgotten.id, RECORD_TIME + 10);
    const ended = await opened({
      signedAddress: WALLET,
      payerAddress: WALLET,
      createdAt: RECORD_TIME + 3_650_000,
    });
    await expired(ended.id, RECORD_TIME + 20);
    const later = RECORD_TIME + 3_700_000;
    const active = await opened({ signedAddress: WALLET, payerAddress: WALLET, createdAt: later });
    await opened({ signedAddress: OTHER_WALLET, payerAddress: OTHER_WALLET, createdAt: later });
    await db.raw('update checkout_sessions set amount_due = ? where id = ?', [
      uintColumn(active.amountDue),
      ended.id,
    ]);
    const ids = (sessions: readonly { id: string }[]) => sessions.map(({ id }) => id);

    const ofSigner = await store().bySigner(place, WALLET, RECORD_TIME + 20);
    const asking = await store().byAmount(place, active.amountDue, RECORD_TIME + 20);

    expect(ids(ofSigner)).toEqual([ended.id, active.id]);
    expect(ids(asking)).toEqual([active.id, ended.id]);
    expect(await store().byAmount({ ...place, chainId: 1 }, active.amountDue, 0)).toEqual([]);
  });

  test('of a wallet that signed for very many, the oldest open and the latest ended ones are found', async ({
    owner,
    store,
    opened,
    expired,
  }) => {
    const signed = async (index: number) =>
      (await opened({ signedAddress: WALLET, payerAddress: WALLET, createdAt: RECORD_TIME + index })).id;
    const ended = [await signed(1), await signed(2), await signed(3)];
    for (const [index, id] of ended.entries()) await expired(id, RECORD_TIME + 10 + index);
    const open = [await signed(4), await signed(5), await signed(6)];

    const found = await store().bySigner(aSession(owner), WALLET, 0, { open: 2, ended: 1 });

    expect(found.map(({ id }) => id)).toEqual([ended[2], open[0], open[1]]);
  });

  test('a recipient is watched once, even with several sessions', async ({ db, stranger, opened }) => {
    const { chainId, tokenAddress, recipientAddress } = await opened();
    await opened();
    await opened({}, stranger);
    const place = { chainId, tokenAddress, recipientAddress };

    expect(await watchedStore(db).recipients(chainId)).toEqual([place]);
    expect(await watchedStore(db).recipients(1)).toEqual([]);
  });
});
