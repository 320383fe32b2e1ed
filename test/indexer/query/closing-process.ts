import { openQueryPool } from '#indexer/query/threads/pool.ts';
import { systemClock } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import { endProcess } from '../../../src/program/ending.ts';
import { countThreads } from './started-threads.ts';

/**
 * Program that closes its query threads while a query runs, and then ends like the server.
 * Prints the number of started threads, and of those that had ended when `close` resolved.
 */
const [file = '', memoryBytes = ''] = process.argv.slice(2);
const { threads } = countThreads();
const pool = openQueryPool({ clock: systemClock, concurrency: 1, memoryBytes: Number(memoryBytes) });
await pool.warmUp();
pool
  .engine({ file })
  .groups(
    { kind: 'groups', entity: 'blocks', filters: [], keys: [], folds: [{ kind: 'count' }], limit: 10 },
    new AbortController().signal,
  )
  .catch(() => undefined);
await pool.close();
process.stdout.write(`${JSON.stringify(threads)}\n`);
endProcess({ withinMs: 200, log: createLogger({ level: 'warn' }) });
