import type { DatabaseOptions } from '#db/open.ts';
import { Cancelled, type Engine, type EngineOptions } from '../engine.ts';
import { openSqliteEngine } from '../sqlite/sqlite-engine.ts';

/** Opens an index that exists. The driver of PostgreSQL is loaded with the first index on it. */
export async function openEngine(database: DatabaseOptions, options: EngineOptions): Promise<Engine> {
  if (database.kind === 'postgres') {
    const { postgresEngine } = await import('../postgres/postgres-engine.ts');
    return postgresEngine(database, options);
  }
  return openSqliteEngine({
    ...options,
    file: database.file,
    tick() {
      if (options.isCancelled()) throw new Cancelled();
    },
  });
}
