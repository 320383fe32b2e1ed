import type { DatabaseOptions } from '#db/open.ts';
import type { Engine } from '#indexer/query/engine.ts';
import { openEngine } from '#indexer/query/threads/open-engine.ts';

/** An engine in this thread, whose queries nobody ends. */
export function testEngine(database: DatabaseOptions): Promise<Engine> {
  return openEngine(database, { isCancelled: () => false, deadlineMs: 10_000 });
}
