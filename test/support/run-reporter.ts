import { availableParallelism, loadavg } from 'node:os';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** Longest test of the project `fast` on an idle machine, in milliseconds, and longest set-up of one of its files. */
const LONGEST_FAST_MS = 5_000;
const LONGEST_SET_UP_MS = 30_000;
const SHOWN = 10;

/** A test, or the set-up of a file: what its hooks take. */
interface Timed {
  readonly name: string;
  readonly ms: number;
  readonly isTooLong: boolean;
}

/**
 * Prints what took longest, fails a test or a set-up of the project `fast` that took too long, and ends a run with the
 * line that continuous integration reads: `N passed, N failed, N skipped`.
 */
export default class RunReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    const timed: Timed[] = [];
    for (const module of modules) {
      count.failed += module.errors().length;
      let setUpMs = module.diagnostic().duration;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        const ms = test.diagnostic()?.duration ?? 0;
        const tooLong = state === 'passed' && isTooLong(module, ms, LONGEST_FAST_MS);
        if (tooLong || state === 'failed') count.failed += 1;
        else count[state === 'passed' ? 'passed' : 'skipped'] += 1;
        timed.push({ name: nameOf(test), ms, isTooLong: tooLong });
        setUpMs -= ms;
      }
      const tooLong = isTooLong(module, setUpMs, LONGEST_SET_UP_MS);
      if (tooLong) count.failed += 1;
      timed.push({ name: `${module.relativeModuleId}, set-up`, ms: setUpMs, isTooLong: tooLong });
    }
    timed.sort((a, b) => b.ms - a.ms);

    console.log('The slowest tests and set-ups:');
    for (const one of timed.slice(0, SHOWN)) console.log(lineOf(one));

    const tooLong = timed.filter(one => one.isTooLong);
    for (const one of tooLong)
      console.log(`Too long for the project fast, rename its file to *.slow.test.ts: ${lineOf(one)}`);
    if (tooLong.length > 0) process.exitCode = 1;
    console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
  }
}

/**
 * A busy machine takes longer for the same test, by the number of programs that share its cores. Those of continuous
 * integration are shared with programs that we do not see.
 */
function isTooLong({ project }: TestModule, ms: number, longestMs: number): boolean {
  if (project.name !== 'fast') return false;
  const [load = 0] = loadavg().slice(1);
  const unseen = process.env.CI === undefined ? 1 : 3;
  return ms > longestMs * unseen * Math.max(1, load / availableParallelism());
}

function lineOf({ name, ms }: Timed): string {
  return `${(ms / 1_000).toFixed(1).padStart(6)} s  ${name}`;
}

function nameOf(test: TestCase): string {
  return `${test.module.relativeModuleId} > ${test.fullName}`;
}
