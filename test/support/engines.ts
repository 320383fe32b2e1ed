import type { EngineName } from '../../src/devnet/chain/engine.ts';
import { eachDatabase, type TestDatabases } from './databases.ts';

/** What embedded chains can run on. */
export const ENGINES: readonly EngineName[] = ['anvil', 'edr'];

/** Runs a suite on both databases over anvil, and on SQLite over EDR: an engine does not know who reads it. */
export function eachDatabaseAndEngine(
  name: string,
  suite: (databases: TestDatabases, engine: EngineName) => void,
): void {
  eachDatabase(name, databases => suite(databases, 'anvil'));
  eachDatabase(`${name} over EDR`, databases => suite(databases, 'edr'), ['sqlite']);
}
