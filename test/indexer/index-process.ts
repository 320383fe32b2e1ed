import { writeSync } from 'node:fs';
import type { DatabaseOptions } from '../../src/db/open.ts';
import { clientOf, openTestIndex } from './support.ts';

/** Keeps the index of the chain at `rpcUrl` up to date until it is killed, and reports when it is. */
async function run(argument: string): Promise<void> {
  const { database, rpcUrl }: { database: DatabaseOptions; rpcUrl: string } = JSON.parse(argument);
  const index = await openTestIndex({ database, client: clientOf(rpcUrl), pollMs: 50 });
  index.start();
  await index.whenComplete();
  writeSync(1, 'complete\n');
}

await run(process.argv[2] ?? '');
