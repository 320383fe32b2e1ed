import type { EngineName } from '../../src/devnet/chain/engine.ts';
import { eachDatabase, type TestDatabases } from './databases.ts';

/** Engines of embedded chains. */
export const ENGINES: readonly EngineName[] = ['anvil', 'edr'];

/**
 * Runs a suite on both databases over anvil, and only on SQLite over EDR, because engines are independent of the
 * database.
 */
export function eachDatabaseAndEngine(
  name: string,
  suite: (databases: TestDatabases, engine: EngineName) => void,
): void {
  eachDatabase(name, databases => suite(databases, 'anvil'));
  eachDatabase(`${name} over EDR`, databases => suite(databases, 'edr'), ['sqlite']);
}
