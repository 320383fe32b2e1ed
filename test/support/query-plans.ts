import type { Binding } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/open.ts';
import { execute, rowsOf } from '../../src/db/query.ts';
import { transaction } from '../../src/db/transaction.ts';

/** Steps of SQLite's query plans for the statements that some work runs. */
export async function plansOf(db: Db, work: () => Promise<unknown>): Promise<string[]> {
  const statements: { sql: string; bindings: Binding[] }[] = [];
  const listener = (statement: { sql: string; bindings: Binding[] }) => statements.push(statement);
  db.on('query', listener);
  await work();
  db.off('query', listener);
  const plans = statements.map(({ sql, bindings }) =>
    rowsOf<{ detail: string }>(db, `explain query plan ${sql}`, bindings),
  );
  return (await Promise.all(plans)).flat().map(step => step.detail);
}

/** Plans of the statements of some work that read sessions or transactions, on either database. Prefers indexes. */
export async function indexPlans(db: Db, work: () => Promise<unknown>): Promise<string> {
  const statements: { sql: string; bindings: Binding[] }[] = [];
  const listener = (statement: { sql: string; bindings: Binding[] }) => statements.push(statement);
  db.on('query', listener);
  await work();
  db.off('query', listener);
  const read = statements.filter(({ sql }) => /from (checkout_sessions|transactions)\b/.test(sql));
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
