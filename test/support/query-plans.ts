import type { Binding } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/open.ts';
import { rowsOf } from '../../src/db/query.ts';

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
