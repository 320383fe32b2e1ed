import { expect } from 'vitest';
import type { Db } from '#db/open.ts';
import { execute } from '#db/query.ts';
import { customerFigures } from '#payments/customers/customer-figures.ts';
import type { Owner } from '#payments/model/owner.ts';
import { RECORD_TIME } from '../../lab/payments-records.ts';
import { eachPaymentsDatabase } from '../../support/each-payments-database.ts';
import { indexPlans } from '../../support/query-plans.ts';

const [COIN, TOKEN] = [`0x${'0'.repeat(40)}`, `0x${'1'.repeat(40)}`];
const ADDRESS = `0x${'2'.repeat(40)}`;

/**
 * Opens so many sessions of a customer, ten in each millisecond. Every second one is completed with 10 units, of which every
 * fourth got 1 back; tokens alternate in pairs.
 */
async function buy(db: Db, { organizationId, mode }: Owner, customerId: string, count: number) {
  const customer =
    'insert into customers (id, organization_id, mode, created_at, updated_at) values (?, ?, ?, 1, 1)';
  await execute(db, customer, [customerId, organizationId, mode]);
  const at = `${RECORD_TIME} + n / 10`;
  const isPaid = 'n % 2 = 0';
  await execute(
    db,
    `insert into checkout_sessions (
       id, organization_id, mode, status, payment_status, chain_id, token_address, recipient_address, subtotal, amount,
       amount_due, is_wallet_only, amount_received, amount_refunded, presentation, confirmations, required_confirmations,
       is_late, is_reorged, metadata, expires_at, created_at, updated_at, completed_at, customer_id
     ) with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n < ${count - 1})
     select ? || n, cast(? as text), cast(? as text), case when ${isPaid} then 'completed' else 'expired' end, 'paid', 1,
       case when n % 4 < 2 then '${COIN}' else '${TOKEN}' end, '${ADDRESS}', '0210', '0210', '0210', 1 = 1,
       case when ${isPaid} then '0210' else '010' end, case when n % 4 = 0 then '011' else '010' end, '{}', 1, 1,
       1 = 0, 1 = 0, '{}', 1, ${at}, ${at}, case when ${isPaid} then ${at} end, cast(? as text) from numbers`,
    [`cs_${customerId}_`, organizationId, mode, customerId],
  );
}

eachPaymentsDatabase('figures of customers', ownedTest => {
  const test = ownedTest.extend('shop', ({ owner }) => ({ ...owner, mode: 'test' }) as const);

  test('are those of all sessions, however many there are, in parts', async ({ db, shop }) => {
    const counts = { cust_busy: 10_444, cust_other: 5_000, cust_more: 40, cust_none: 0 };
    for (const [id, count] of Object.entries(counts)) if (count > 0) await buy(db, shop, id, count);
    let turns = 0;
    let isRead = false;
    const turn = () => {
      turns += 1;
      if (!isRead) setImmediate(turn);
    };
    setImmediate(turn);

    const figuresOf = await customerFigures(db, shop, Object.keys(counts));
    isRead = true;

    for (const [id, count] of Object.entries(counts)) {
      const received = (BigInt(count) / 4n) * 10n;
      expect(figuresOf(id)).toEqual({
        checkouts: count,
        completed: count / 2,
        firstPurchaseAt: count === 0 ? null : RECORD_TIME,
        lastPurchaseAt: count === 0 ? null : RECORD_TIME + Math.floor((count - 2) / 10),
        totals:
          count === 0
            ? []
            : [
                { chainId: 1, tokenAddress: COIN, received, refunded: BigInt(count) / 4n },
                { chainId: 1, tokenAddress: TOKEN, received, refunded: 0n },
              ],
      });
    }
    // Three parts of the first, one of the second, and one of the others.
    expect(turns).toBeGreaterThanOrEqual(5);
  });

  test('are read from an index', async ({ db, shop }) => {
    await buy(db, shop, 'cust_busy', 10_001);
    await buy(db, shop, 'cust_other', 10_000);
    // PostgreSQL chooses plans by statistics, and reads an index alone where rows are known to be visible.
    if (db.dialect.name === 'postgres') await db.raw('vacuum analyze checkout_sessions, customers');

    const plans = await indexPlans(db, () => customerFigures(db, shop, ['cust_busy']));

    expect(plans).toMatch(/COVERING INDEX sessions_of_customer|Index Only Scan using sessions_of_customer/);
    expect(plans).not.toMatch(
      /SCAN checkout_sessions(?! USING)|Seq Scan|checkout_sessions USING INDEX|Index Scan using sessions/,
    );
  });
});
