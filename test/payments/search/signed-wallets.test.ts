import { test as base, expect } from 'vitest';
import { migrate } from '#db/migrate.ts';
import { type Db, openDatabase } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import { foundCustomers } from '#payments/api/customers/customer-search.ts';
import type { Owner } from '#payments/model/owner.ts';
import { foundSessions, type Search } from '#payments/search/session-search.ts';
import { foundTransactions } from '#payments/search/transaction-search.ts';
import { seals } from '#payments/secrets/sealed.ts';
import { sessionValues } from '#payments/sessions/session-rows.ts';
import { sessionStore } from '#payments/sessions/session-store.ts';
import { settlement } from '#payments/settlement/settlement.ts';
import { PAYMENTS_MIGRATIONS } from '#payments/store/migrations/payments-migrations.ts';
import { RECORD_TIME } from '../../lab/payments-records.ts';
import { aSession, aTransfer } from '../../lab/payments-sessions.ts';
import { bothDatabases } from '../../support/databases.ts';
import { eachPaymentsDatabase } from '../../support/each-payments-database.ts';
import { insertOwner } from '../../support/given-database.ts';
import { indexPlans } from '../../support/query-plans.ts';

const SEALED = seals(['a secret that only this test knows, and long']);
const SIGNER = `0x${'aa'.repeat(20)}`;
const PAYER = `0x${'bb'.repeat(20)}`;

const recordsOf = (db: Db) => ({ handle: db, seals: SEALED });
const ofWallet = (owner: Owner, address: string): Search => ({ owner, text: { kind: 'address', address } });
const PAGE = { page: 1, limit: 10 };

/** Ids of the sessions of a wallet. */
async function sessionsOf(db: Db, owner: Owner, wallet: string): Promise<string[]> {
  const { data } = await foundSessions(recordsOf(db), ofWallet(owner, wallet), {}, PAGE);
  return data.map(({ id }) => id);
}

eachPaymentsDatabase('a checkout that another wallet paid than the one that signed', ownedTest => {
  const test = ownedTest
    .extend('shop', ({ owner }): Owner => ({ ...owner, mode: 'test' }))
    .extend('paid', ({ db, shop }) =>
      transaction(db, async handle => {
        const store = sessionStore(handle, SEALED);
        const session = await store.open(aSession(shop, { customerEmail: 'ada@example.com' }));
        await store.bindWallet(session.id, SIGNER, RECORD_TIME + 1);
        const settle = settlement({ handle, seals: SEALED, now: RECORD_TIME + 2 });
        const transfer = aTransfer({ sender: PAYER, amount: session.amountDue });
        const payment = await settle.recordTransfer(session, transfer, {
          matchedBy: 'amount',
          confirmations: 3,
        });
        await settle.complete(payment.id);
        return { id: session.id, transactionId: payment.id };
      }),
    );

  test('is found by both, with its payment and its customer', async ({ db, shop, paid }) => {
    for (const wallet of [SIGNER, PAYER]) {
      const search = ofWallet(shop, wallet);
      const transactions = await foundTransactions(recordsOf(db), search, {}, PAGE);
      const customers = await foundCustomers(recordsOf(db), search, {}, PAGE);

      expect([wallet, await sessionsOf(db, shop, wallet)]).toEqual([wallet, [paid.id]]);
      expect(transactions.data.map(({ id }) => id)).toEqual([paid.transactionId]);
      expect(customers.data).toMatchObject([{ email: 'ada@example.com' }]);
    }
  });

  test('is found by no other owner', async ({ db, stranger, paid }) => {
    const theirs = { ...stranger, mode: 'test' } as const;
    const search = ofWallet(theirs, SIGNER);

    expect(paid.id).toMatch(/^cs_/);
    expect(await sessionsOf(db, theirs, SIGNER)).toEqual([]);
    expect((await foundTransactions(recordsOf(db), search, {}, PAGE)).total).toBe(0);
    expect((await foundCustomers(recordsOf(db), search, {}, PAGE)).total).toBe(0);
  });
});

bothDatabases('a database from before the search by wallets that signed', databases => {
  base('finds its checkouts by them, through an index', async () => {
    const db = openDatabase(await databases.create());
    const step = PAYMENTS_MIGRATIONS.findIndex(({ name }) => name === 'search by wallets that signed');
    await migrate(db, PAYMENTS_MIGRATIONS.slice(0, step));
    const owner: Owner = { ...(await insertOwner(db)), mode: 'test' };
    const { tokenDecimals: _, clientHash: __, depositRules: ___, ...draft } = aSession(owner);
    const session = {
      ...draft,
      signedAddress: SIGNER,
      payerAddress: PAYER,
      amountDue: draft.amount,
      isWalletOnly: true,
      depositAddress: null,
    };
    await db('checkout_sessions').insert({
      ...sessionValues(session, SEALED),
      client_hash: null,
      is_price_round: true,
    });

    await migrate(db, PAYMENTS_MIGRATIONS);

    expect(await sessionsOf(db, owner, SIGNER)).toEqual([session.id]);
    expect(await indexPlans(db, () => sessionsOf(db, owner, SIGNER))).toContain('sessions_by_other_signer');
    await db.destroy();
  });
});
