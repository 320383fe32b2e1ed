import type { EngineName } from '../../src/devnet/chain/engine.ts';
import { eachDatabase, type TestDatabases } from './databases.ts';
import { isWholeRun } from './whole-run.ts';

/** Engines of embedded chains. */
export const ENGINES: readonly EngineName[] = ['anvil', 'edr'];

/**
 * Runs a suite over anvil with each database, and in `npm run test:all` also over EDR on SQLite, because engines are
 * independent of the database.
 */
export function eachDatabaseAndEngine(
  name: string,
  suite: (databases: TestDatabases, engine: EngineName) => void,
): void {
  eachDatabase(name, databases => suite(databases, 'anvil'));
  if (isWholeRun) eachDatabase(`${name} over EDR`, databases => suite(databases, 'edr'), ['sqlite']);
}
