import type { DatabaseOptions } from '#db/open.ts';
import { Cancelled, type Engine, type EngineOptions } from '../engine.ts';

/** Opens an index that exists. What only one of the databases needs is loaded with the first index on it. */
export async function openEngine(database: DatabaseOptions, options: EngineOptions): Promise<Engine> {
  if (database.kind === 'postgres') {
    const { postgresEngine } = await import('../postgres/postgres-engine.ts');
    return postgresEngine(database, options);
  }
  const { openSqliteEngine } = await import('../sqlite/sqlite-engine.ts');
  return openSqliteEngine({
    ...options,
    file: database.file,
    tick() {
      if (options.isCancelled()) throw new Cancelled();
    },
  });
}
