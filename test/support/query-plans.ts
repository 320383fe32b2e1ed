import type { Binding } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/open.ts';
import { execute, rowsOf } from '../../src/db/query.ts';
import { transaction } from '../../src/db/transaction.ts';

interface Statement {
  readonly sql: string;
  readonly bindings: Binding[];
}

/** Steps of SQLite's query plans for the statements that some work runs. */
export async function plansOf(db: Db, work: () => Promise<unknown>): Promise<string[]> {
  return (await Promise.all((await statementsOf(db, work)).map(one => sqliteSteps(db, one)))).flat();
}

/** Plans of the statements of some work that read sessions or transactions, on either database. Prefers indexes. */
export async function indexPlans(db: Db, work: () => Promise<unknown>): Promise<string> {
  const statements = await statementsOf(db, work);
  const steps: string[] = [];
  for (const { sql, bindings } of statements) {
    if (!/from (checkout_sessions|transactions)\b/.test(sql)) continue;
    if (db.dialect.name === 'sqlite') {
      steps.push(...(await sqliteSteps(db, { sql, bindings })));
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

async function statementsOf(db: Db, work: () => Promise<unknown>): Promise<Statement[]> {
  const statements: Statement[] = [];
  const listener = (statement: Statement) => statements.push(statement);
  db.on('query', listener);
  await work();
  db.off('query', listener);
  return statements;
}

async function sqliteSteps(db: Db, { sql, bindings }: Statement): Promise<string[]> {
  const plan = await rowsOf<{ detail: string }>(db, `explain query plan ${sql}`, bindings);
  return plan.map(({ detail }) => detail);
}
