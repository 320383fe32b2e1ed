/**
 * A process that keeps vitest, PostgreSQL and the compiled sources between the runs of mutants. `testSession` forks it
 * as the leader of a process group, which ends with the connection to the parent process.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { createVitest, type Reporter, type TestModule, type TestSpecification } from 'vitest/node';
import base from '../../vitest.config.ts';
import { type Switchable, schemata } from './schemata.ts';
import type { ReachedLine } from './setup.ts';

/** Mutations by path, relative to the root. The first message to a session. */
export type InstrumentedFiles = Readonly<Partial<Record<string, readonly Switchable[]>>>;

export interface RunRequest {
  /** -1 to run without a mutant. */
  readonly mutant: number;
  /** Test files, relative to the root, in the order in which they run. */
  readonly tests: readonly string[];
}

export interface TestFileResult {
  readonly file: string;
  readonly hasPassed: boolean;
  /** True when it failed only because a test took too long. */
  readonly isLate: boolean;
  readonly durationMs: number;
  /** Ids of mutations; empty while a mutant is on. */
  readonly reached: readonly number[];
}

const ROOT = join(import.meta.dirname, '..', '..');
const isVerbose = process.argv.includes('--verbose');
const { test: options, ...vite } = base({ mode: 'test', command: 'serve' });
const reachedFile = join(tmpdir(), 'reached.jsonl');

process.once('message', async (files: InstrumentedFiles) => {
  const ended: TestModule[] = [];
  /** Files with a failed test. The value is true while all of these tests took too long. */
  const failed = new Map<string, boolean>();
  let isJudging = false;
  const reporter: Reporter = {
    onTestModuleEnd(module) {
      ended.push(module);
      if (isVerbose) console.log(module.relativeModuleId, module.state(), module.errors());
    },
    onTestCaseResult(test) {
      if (isVerbose) console.log(test.fullName, test.result());
      const { state, errors } = test.result();
      if (state !== 'failed') return;
      const file = test.module.relativeModuleId;
      const isLate = errors.every(({ message }) => message.startsWith('Test timed out'));
      failed.set(file, isLate && failed.get(file) !== false);
      if (isJudging) void vitest.cancelCurrentRun('test-failure');
    },
  };
  const { projects: _, ...shared } = options ?? {};
  const vitest = await createVitest(
    'test',
    {
      ...shared,
      root: ROOT,
      config: false,
      watch: false,
      // Its key does not know the mutations.
      fsModuleCache: false,
      silent: !isVerbose,
      // A quick test takes 5 s at most on an idle machine. One that waits in vain for a mutant must not take long.
      testTimeout: 30_000,
      include: ['test/**/*.test.ts'],
      exclude: ['test/**/*.slow.test.ts'],
      setupFiles: [join(import.meta.dirname, 'setup.ts')],
      reporters: [reporter],
      sequence: { sequencer: AsGiven },
    },
    {
      ...vite,
      plugins: [
        {
          name: 'mutants',
          enforce: 'pre',
          transform(code, id) {
            const mutations = files[relative(ROOT, id)];
            return mutations === undefined ? undefined : { code: schemata(code, mutations), map: null };
          },
        },
      ],
    },
  );
  vitest.provide('reachedFile', reachedFile);

  process.on('message', async ({ mutant, tests }: RunRequest) => {
    isJudging = mutant >= 0;
    ended.length = 0;
    failed.clear();
    rmSync(reachedFile, { force: true });
    vitest.provide('mutant', mutant);
    const specifications = tests.map(file => vitest.getRootProject().createSpecification(join(ROOT, file)));
    const { unhandledErrors } = await vitest.runTestSpecifications(specifications);
    const lines = isJudging ? [] : reachedLines();
    const results = ended.map(module => ({
      file: module.relativeModuleId,
      hasPassed: module.ok() && unhandledErrors.length === 0,
      isLate: unhandledErrors.length === 0 && failed.get(module.relativeModuleId) === true,
      durationMs: durationOf(module),
      reached: lines.find(({ file }) => file === module.moduleId)?.reached ?? [],
    }));
    // A module does not end when its run is cancelled. Without a failed test, its worker has crashed.
    const hasEnded = (file: string) => results.some(result => result.file === file);
    const cancelled = (failed.size > 0 ? [...failed.keys()] : tests)
      .filter(file => !hasEnded(file))
      .map(file => ({
        file,
        hasPassed: false,
        isLate: failed.get(file) === true,
        durationMs: 0,
        reached: [],
      }));
    process.send?.([...results, ...cancelled] satisfies TestFileResult[]);
  });
  process.send?.('ready');
});

process.once('disconnect', () => process.kill(-process.pid, 'SIGKILL'));

/** Keeps the order of a request. */
class AsGiven {
  shard(files: TestSpecification[]): TestSpecification[] {
    return files;
  }
  sort(files: TestSpecification[]): TestSpecification[] {
    return files;
  }
}

function durationOf(module: TestModule): number {
  const { collectDuration, duration, setupDuration } = module.diagnostic();
  return Math.round(collectDuration + duration + setupDuration);
}

function reachedLines(): ReachedLine[] {
  // Absent when no file could be loaded.
  if (!existsSync(reachedFile)) return [];
  return readFileSync(reachedFile, 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line));
}
