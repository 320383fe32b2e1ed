import { expect } from 'vitest';
import type { Binding } from '#db/columns.ts';
import type { Db } from '#db/open.ts';
import { execute, rowsOf } from '#db/query.ts';
import { transaction } from '#db/transaction.ts';
import { DAY_MS } from '#lib/clock.ts';
import {
  linkSessionTallies,
  linkTransactionTallies,
  sessionTallies,
  transactionTallies,
} from '#payments/stats/tallies.ts';
import { eachPaymentsDatabase } from '../../support/each-payments-database.ts';

/** Query plans of the statements of some work. */
async function plansOf(db: Db, work: () => Promise<unknown>): Promise<string> {
  const statements: { sql: string; bindings: Binding[] }[] = [];
  const listener = (statement: { sql: string; bindings: Binding[] }) => statements.push(statement);
  db.on('query', listener);
  await work();
  db.off('query', listener);
  const read = statements.filter(({ sql }) => /from (checkout_sessions|transactions)\b/.test(sql));
  expect(read).toHaveLength(1);
  const steps: string[] = [];
  for (const { sql, bindings } of read) {
    if (db.dialect.name === 'sqlite') {
      const plan = await rowsOf<{ detail: string }>(db, `explain query plan ${sql}`, bindings);
      steps.push(...plan.map(({ detail }) => detail));
      continue;
    }
    await transaction(db, async handle => {
      // Over empty tables all plans cost the same.
      for (const way of ['seqscan', 'bitmapscan', 'hashagg'])
        await execute(handle, `set local enable_${way} = off`);
      const text = sql.replaceAll(/\$\d+/g, '?');
      const plan = await rowsOf<{ 'QUERY PLAN': string }>(handle, `explain ${text}`, bindings);
      steps.push(...plan.map(step => step['QUERY PLAN']));
    });
  }
  return steps.join('\n');
}

eachPaymentsDatabase('tallies', test => {
  const link = { id: 'pl_a', chainId: 1, tokenAddress: `0x${'0'.repeat(40)}` };

  test('of an owner are read from a covering index, without a sort', async ({ db, owner }) => {
    const plans = [
      await plansOf(db, () => sessionTallies(db, owner, { first: 20_000, end: 20_010 })),
      await plansOf(db, () => transactionTallies(db, owner, { from: 0, to: DAY_MS })),
    ];

    expect(plans[0]).toMatch(/(COVERING INDEX|Index Only Scan using) sessions_by_day/);
    expect(plans[1]).toMatch(/(COVERING INDEX|Index Only Scan using) transactions_by_day/);
    for (const plan of plans) expect(plan).not.toMatch(/TEMP B-TREE|Sort/);
  });

  test('of a link are read from a covering index', async ({ db }) => {
    const plans = [
      await plansOf(db, () => linkSessionTallies(db, link, 20_000)),
      await plansOf(db, () => linkTransactionTallies(db, link.id, 20_000)),
    ];

    expect(plans[0]).toMatch(/(COVERING INDEX|Index Only Scan using) sessions_of_link/);
    expect(plans[1]).toMatch(/(COVERING INDEX|Index Only Scan using) transactions_of_link/);
    expect(plans[1]).not.toMatch(/TEMP B-TREE|Sort/);
  });
});
