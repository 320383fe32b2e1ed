import type { DatabaseOptions } from '#db/open.ts';
import { Cancelled, type EngineOptions, type SerialEngine } from '../engine.ts';
import { openSqliteEngine } from '../sqlite/sqlite-engine.ts';

/** Opens an existing index. PostgreSQL's driver is loaded with the first index on PostgreSQL. */
export async function openEngine(database: DatabaseOptions, options: EngineOptions): Promise<SerialEngine> {
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
