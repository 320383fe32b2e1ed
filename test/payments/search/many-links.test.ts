import { expect } from 'vitest';
import type { Db } from '#db/open.ts';
import { execute, rowsOf } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import type { Owner } from '#payments/model/owner.ts';
import { foundSessions, type Search } from '#payments/search/session-search.ts';
import { foundTransactions } from '#payments/search/transaction-search.ts';
import { foundTransfers } from '#payments/search/transfer-search.ts';
import { seals } from '#payments/secrets/sealed.ts';
import { sessionStore } from '#payments/sessions/session-store.ts';
import { settlement } from '#payments/settlement/settlement.ts';
import { linkStore } from '#payments/store/link-store.ts';
import { transferStore } from '#payments/store/transfer-store.ts';
import { aLink, allDue, RECORD_TIME } from '../../lab/payments-records.ts';
import { aSession, aTransfer } from '../../lab/payments-sessions.ts';
import { eachPaymentsDatabase } from '../../support/each-payments-database.ts';
import { indexPlans } from '../../support/query-plans.ts';

const SEALED = seals(['a secret that only this test knows, and long']);
const LINKS = 1_005;

eachPaymentsDatabase('a name that more than a thousand links have', ownedTest => {
  const test = ownedTest
    .extend('shop', ({ owner }): Owner => ({ ...owner, mode: 'test' }))
    .extend('found', async ({ db, shop }) => {
      await fill(db, shop);
      const search = { owner: shop, text: { kind: 'text', text: 'invoice', amounts: [] } } satisfies Search;
      const [records, page] = [
        { handle: db, seals: SEALED },
        { page: 1, limit: 1 },
      ] as const;
      return {
        sessions: () => foundSessions(records, search, {}, page),
        transactions: () => foundTransactions(records, search, {}, page),
        transfers: () => foundTransfers(records, search, {}, page),
      };
    });

  test('finds the records of all of them, and reads an index', async ({ db, found }) => {
    for (const [kind, read] of Object.entries(found)) {
      const { total } = await read();

      expect([kind, total]).toEqual([kind, LINKS]);
      expect(await indexPlans(db, read)).not.toMatch(
        /SCAN (checkout_sessions|transactions)(?! USING)|Seq Scan/,
      );
    }
  });
});

/** Writes many links with a session, a payment and an unmatched transfer each. */
async function fill(db: Db, shop: Owner): Promise<void> {
  const link = aLink(shop, { name: 'Invoice' });
  const session = aSession(shop, { paymentLinkId: link.id });
  await linkStore(db).insert(link);
  await transaction(db, async handle => {
    const opened = await sessionStore(handle, SEALED).open(session);
    await settlement({ handle, seals: SEALED, now: RECORD_TIME }).simulate(opened, 'completed');
  });
  await transferStore(db).upsert(shop, { ...aTransfer(), suggestedSessionId: session.id }, RECORD_TIME);
  await transferStore(db).confirm(await transferStore(db).unconfirmed(allDue(link.chainId)), RECORD_TIME);

  const ofLink = "'pl_' || n";
  const ofSession = "'cs_' || n";
  await copy(db, 'payment_links', { id: ofLink, short_code: "'invoice-' || n" });
  await copy(db, 'checkout_sessions', { id: ofSession, payment_link_id: ofLink });
  await copy(db, 'transactions', {
    id: "'txn_' || n",
    session_id: ofSession,
    payment_link_id: ofLink,
    log_index: 'n',
  });
  await copy(db, 'unmatched_transfers', {
    id: "'utr_' || n",
    suggested_session_id: ofSession,
    log_index: '10 + n',
  });
  // As autovacuum does.
  if (db.dialect.name === 'postgres') await execute(db, 'analyze');
}

/** Copies the only row of a table, with other values in some columns: SQL of the number `n` of the copy. */
async function copy(
  db: Db,
  table: 'payment_links' | 'checkout_sessions' | 'transactions' | 'unmatched_transfers',
  changes: Readonly<Record<string, string>>,
): Promise<void> {
  const [row = {}] = await rowsOf<object>(db, `select * from ${table}`);
  const columns = Object.keys(row);
  await execute(
    db,
    `insert into ${table} (${columns.join(', ')})
     with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${LINKS - 1})
     select ${columns.map(column => changes[column] ?? column).join(', ')} from ${table}, numbers`,
  );
}
