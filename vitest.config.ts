import { existsSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { PATIENCE_MS } from './test/lab/until.ts';

const SLOW = 'test/**/*.slow.test.ts';
const COMPILE_CACHE = join(import.meta.dirname, 'node_modules', '.cache', 'test-programs');

/** A file system in memory with room for all files of a run; undefined when there is none. */
function memoryFolder(): string | undefined {
  const folder = '/dev/shm';
  if (!existsSync(folder)) return undefined;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize < 4 * 2 ** 30 ? undefined : folder;
}

export default defineConfig(({ mode }) => ({
  test: {
    globalSetup: ['./test/support/postgres-server.ts'],
    // See test/README.md.
    projects: [
      { extends: true, test: { name: 'fast', include: ['test/**/*.test.ts'], exclude: [SLOW] } },
      { extends: true, test: { name: 'slow', include: [SLOW] } },
    ],
    provide: { isWholeRun: mode === 'all' },
    env: {
      // With this cache, programs that tests start compile the sources once instead of once per start.
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      // In memory, because each commit of an SQLite database waits for the disk.
      TMPDIR: process.env.TMPDIR ?? memoryFolder() ?? tmpdir(),
    },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // The default of one second is too short on a busy machine.
    expect: { poll: { timeout: PATIENCE_MS } },
    // One process runs many files, because loading the sources again for each file took a third of a run.
    isolate: false,
    // More workers than cores, because tests spend a third of their time waiting for chains, databases and pauses.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    reporters: ['default', './test/support/run-reporter.ts'],
  },
}));
