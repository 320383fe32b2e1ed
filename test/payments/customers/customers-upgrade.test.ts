import { expect, test } from 'vitest';
import { migrate } from '#db/migrate.ts';
import { type Db, openDatabase } from '#db/open.ts';
import { customerFigures } from '#payments/customers/customer-figures.ts';
import { customerOf, customerRows } from '#payments/customers/customer-rows.ts';
import type { Owner } from '#payments/model/owner.ts';
import { type Seals, seals } from '#payments/secrets/sealed.ts';
import { sessionValues } from '#payments/sessions/session-rows.ts';
import { identifyCustomers } from '#payments/sessions/unidentified-sessions.ts';
import { PAYMENTS_MIGRATIONS } from '#payments/store/migrations/payments-migrations.ts';
import { organizationStore } from '#payments/store/organization-store.ts';
import { anOrganization, RECORD_TIME } from '../../lab/payments-records.ts';
import { aSession } from '../../lab/payments-sessions.ts';
import { bothDatabases } from '../../support/databases.ts';
import { indexPlans } from '../../support/query-plans.ts';

const SEALED: Seals = seals(['a secret that only this test knows, and long']);
const WALLET = `0x${'aa'.repeat(20)}`;
const ADA = { customerEmail: 'ada@example.com', customerName: 'Ada Lovelace' };

async function insertSession(db: Db, owner: Owner, changes: Parameters<typeof aSession>[1]): Promise<void> {
  const { tokenDecimals: _, clientHash: __, depositRules: ___, ...draft } = aSession(owner, changes);
  const asked = { amountDue: draft.amount, isWalletOnly: true, depositAddress: null };
  const session = { ...draft, ...asked, customerId: 'cust_1' };
  await db('checkout_sessions').insert({
    ...sessionValues(session, SEALED),
    client_hash: null,
    is_price_round: true,
  });
}

bothDatabases('a database from before purchases of customers', databases => {
  test('identifies its customers again, with what was paid', async () => {
    const db = openDatabase(await databases.create());
    const step = PAYMENTS_MIGRATIONS.findIndex(({ name }) => name === 'purchases of customers');
    await migrate(db, PAYMENTS_MIGRATIONS.slice(0, step));
    const shop = anOrganization();
    await organizationStore(db).insert(shop);
    const owner: Owner = { organizationId: shop.id, mode: 'test' };
    await db.raw(`insert into customers (id, organization_id, mode, wallet_address, created_at, updated_at)
      values ('cust_1', '${shop.id}', 'test', '0x${'ee'.repeat(20)}', ${RECORD_TIME}, ${RECORD_TIME})`);
    const paidAt = RECORD_TIME + 9_000;
    const paid = {
      status: 'completed',
      completedAt: paidAt,
      signedAddress: WALLET,
      payerAddress: WALLET,
    } as const;
    await insertSession(db, owner, { ...ADA, customerName: 'Mallory', createdAt: RECORD_TIME + 10_000 });
    await insertSession(db, owner, { ...ADA, ...paid, createdAt: RECORD_TIME + 8_000 });

    await migrate(db, PAYMENTS_MIGRATIONS);
    while ((await identifyCustomers(db, SEALED, { limit: 1 })) > 0);

    const customers = (await customerRows.rows(db)).map(row => customerOf(row, SEALED));
    expect(customers).toEqual([
      {
        id: expect.stringMatching(/^cust_.{24}$/),
        ...owner,
        email: 'ada@example.com',
        name: 'Ada Lovelace',
        walletAddress: WALLET,
        lastPurchaseAt: paidAt,
        createdAt: RECORD_TIME + 8_000,
        updatedAt: paidAt,
      },
    ]);
    await db.destroy();
  });
});

bothDatabases('a database from before figures of customers', databases => {
  test('keeps its sessions, which are then added up from their index', async () => {
    const db = openDatabase(await databases.create());
    const step = PAYMENTS_MIGRATIONS.findIndex(({ name }) => name === 'figures of customers');
    await migrate(db, PAYMENTS_MIGRATIONS.slice(0, step));
    const shop = anOrganization();
    await organizationStore(db).insert(shop);
    const owner: Owner = { organizationId: shop.id, mode: 'test' };
    await db.raw(`insert into customers (id, organization_id, mode, created_at, updated_at)
      values ('cust_1', '${shop.id}', 'test', ${RECORD_TIME}, ${RECORD_TIME})`);
    await insertSession(db, owner, { createdAt: RECORD_TIME });
    await insertSession(db, owner, { createdAt: RECORD_TIME, status: 'completed', completedAt: RECORD_TIME });

    await migrate(db, PAYMENTS_MIGRATIONS);

    const figures = async () => (await customerFigures(db, owner, ['cust_1']))('cust_1');
    expect(await figures()).toMatchObject({ checkouts: 2, completed: 1, lastPurchaseAt: RECORD_TIME });
    expect(await indexPlans(db, figures)).toMatch(
      /COVERING INDEX sessions_of_customer|Index Only Scan using sessions_of_customer/,
    );
    await db.destroy();
  });
});
