import type { Knex } from 'knex';
import type { Db } from './open.ts';

/** One step of a schema: a name that never changes once released, and statements run in order. */
export interface Migration {
  name: string;
  up: readonly string[];
}

/**
 * Brings a database up to the given list, in one transaction: all new steps or none.
 * @throws when the database knows a step that the list does not: it belongs to a newer version.
 */
export async function migrate(db: Db, migrations: readonly Migration[]): Promise<void> {
  await db.transaction(async handle => {
    await handle.raw(
      'create table if not exists schema_migrations (name text primary key, position integer not null)',
    );
    const done = await appliedNames(handle);
    const unknown = done.filter((name, position) => migrations[position]?.name !== name);
    if (unknown.length > 0) {
      throw new Error(`The database has migrations this version does not know: ${unknown.join(', ')}.`);
    }
    for (const [position, migration] of migrations.entries()) {
      if (position < done.length) continue;
      for (const statement of migration.up) await handle.raw(statement);
      await handle.raw('insert into schema_migrations (name, position) values (?, ?)', [
        migration.name,
        position,
      ]);
    }
  });
}

async function appliedNames(handle: Knex.Transaction): Promise<string[]> {
  const rows = await handle.raw<{ name: string }[]>('select name from schema_migrations order by position');
  return rows.map(row => row.name);
}
