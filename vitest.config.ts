import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const COMPILE_CACHE = join(import.meta.dirname, 'node_modules', '.cache', 'test-programs');

export default defineConfig(({ mode }) => ({
  test: {
    globalSetup: ['./test/support/postgres-server.ts'],
    include: ['test/**/*.test.ts'],
    // Set by `npm run test:all`: see test/support/long-series.ts.
    provide: { runsAll: mode === 'all' },
    // Programs that tests start compile the sources once instead of once per start.
    env: { NODE_COMPILE_CACHE: COMPILE_CACHE },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // One process per core runs many files: loading the sources again for each took a third of a run.
    isolate: false,
    maxWorkers: '100%',
    reporters: ['default', './test/support/count-reporter.ts'],
  },
}));
