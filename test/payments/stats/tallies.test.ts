import { expect } from 'vitest';
import { DAY_MS } from '#lib/clock.ts';
import {
  linkSessionTallies,
  linkTransactionTallies,
  sessionTallies,
  transactionTallies,
} from '#payments/stats/tallies.ts';
import { eachPaymentsDatabase } from '../../support/each-payments-database.ts';
import { indexPlans } from '../../support/query-plans.ts';

eachPaymentsDatabase('tallies', test => {
  const link = { id: 'pl_a', chainId: 1, tokenAddress: `0x${'0'.repeat(40)}` };

  test('of an owner are read from a covering index, without a sort', async ({ db, owner }) => {
    const plans = [
      await indexPlans(db, () => sessionTallies(db, owner, { first: 20_000, end: 20_010 })),
      await indexPlans(db, () => transactionTallies(db, owner, { from: 0, to: DAY_MS })),
    ];

    expect(plans[0]).toMatch(/(COVERING INDEX|Index Only Scan using) sessions_by_day/);
    expect(plans[1]).toMatch(/(COVERING INDEX|Index Only Scan using) transactions_by_day/);
    for (const plan of plans) expect(plan).not.toMatch(/TEMP B-TREE|Sort/);
  });

  test('of a link are read from a covering index', async ({ db }) => {
    const plans = [
      await indexPlans(db, () => linkSessionTallies(db, link, 20_000)),
      await indexPlans(db, () => linkTransactionTallies(db, link.id, 20_000)),
    ];

    expect(plans[0]).toMatch(/(COVERING INDEX|Index Only Scan using) sessions_of_link/);
    expect(plans[1]).toMatch(/(COVERING INDEX|Index Only Scan using) transactions_of_link/);
    expect(plans[1]).not.toMatch(/TEMP B-TREE|Sort/);
  });
});
