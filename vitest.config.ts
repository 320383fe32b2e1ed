import { existsSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { PATIENCE_MS } from './test/lab/until.ts';

const SLOW = 'test/**/*.slow.test.ts';
/** Suites that `npm run test:all` also runs on chains with the rules of Amsterdam. test/README.md lists the others. */
const ON_AMSTERDAM = [
  'test/devnet/{activity,market,sales.slow,tokens}.test.ts',
  'test/indexer/index-service.test.ts',
  'test/indexer/receiver-code.slow.test.ts',
  'test/indexer/sync/{random-chain.slow,reorg.slow,sync}.test.ts',
  'test/conformance/{explorer,insights}.slow.test.ts',
  'test/data/insights/over-http.slow.test.ts',
  'test/evm/{inclusion,prove-block}.test.ts',
  'test/data/{internal-transactions,state-changes.slow,statistics.slow,transfer-values.slow,values.slow}.test.ts',
  'test/contract/served-lists.test.ts',
  'test/pages/transaction-page.slow.test.ts',
  'test/payments/watcher/*.test.ts',
];
/** Of these, what takes minutes, chooses its own chains, or tests how coins are read that have no logs. */
const NOT_ON_AMSTERDAM = [
  'test/payments/watcher/{*.slow,coin-logs*,deposit-balances,lagging-coins,one-clock,traced-coins,untraced-blocks}.test.ts',
];
/** Suites that it also runs on chains of EDR with the rules of Prague. */
const ON_EDR = ['test/indexer/sync/reorg.slow.test.ts', 'test/payments/watcher/paying.test.ts'];
const COMPILE_CACHE = join(import.meta.dirname, 'node_modules', '.cache', 'test-programs');

/** A file system in memory with room for all files of a run; undefined when there is none. */
function memoryFolder(): string | undefined {
  const folder = '/dev/shm';
  if (!existsSync(folder)) return undefined;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize < 4 * 2 ** 30 ? undefined : folder;
}

/** Project that runs suites on another kind of chain, on SQLite and with one version of each back end. */
function onChains(kind: string, include: string[]) {
  return {
    extends: true as const,
    test: {
      name: kind,
      include,
      exclude: NOT_ON_AMSTERDAM,
      provide: { isWholeRun: false, databases: 'sqlite' as const },
      env: { CHAIN_KIND: kind },
    },
  };
}

export default defineConfig(({ mode }) => ({
  test: {
    globalSetup: ['./test/support/postgres-server.ts', './test/support/compile-cache.ts'],
    // See test/README.md.
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          include: ['test/**/*.test.ts'],
          exclude: [SLOW],
          // `npm run test:ci` follows `npm test`, which has run these suites on SQLite.
          ...(mode === 'ci' && { provide: { databases: 'postgres' as const } }),
          // Node runs the sources as in the program. Through the module runner of Vite they take a tenth more time,
          // because each use of an import is a call.
          experimental: { viteModuleRunner: false },
        },
      },
      { extends: true, test: { name: 'slow', include: [SLOW] } },
      ...(mode === 'all' ? [onChains('edr-prague', ON_EDR), onChains('edr-amsterdam', ON_AMSTERDAM)] : []),
    ],
    provide: {
      isWholeRun: mode === 'all',
      databases: mode === 'all' || mode === 'ci' ? 'both' : 'sqlite',
    },
    env: {
      // With this cache, workers and the programs that tests start compile the sources once instead of once per start.
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
