import { availableParallelism, loadavg } from 'node:os';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** Longest test of the project `fast` on an idle machine, in milliseconds. */
const LONGEST_FAST_MS = 5_000;
const SHOWN = 10;

/**
 * Prints the ten slowest tests, fails a test of the project `fast` that took too long, and ends a run with the line that
 * continuous integration reads: `N passed, N failed, N skipped`.
 */
export default class RunReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    const durations: { test: TestCase; ms: number }[] = [];
    for (const module of modules) {
      count.failed += module.errors().length;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed' || state === 'failed') count[state] += 1;
        else count.skipped += 1;
        durations.push({ test, ms: test.diagnostic()?.duration ?? 0 });
      }
    }
    durations.sort((a, b) => b.ms - a.ms);

    console.log('The slowest tests:');
    for (const { test, ms } of durations.slice(0, SHOWN)) console.log(`${seconds(ms)}  ${nameOf(test)}`);

    const tooLong = durations.filter(
      ({ test, ms }) => test.project.name === 'fast' && test.result().state === 'passed' && ms > longestMs(),
    );
    for (const { test, ms } of tooLong)
      console.log(
        `Too long for the project fast, rename its file to *.slow.test.ts: ${seconds(ms)}  ${nameOf(test)}`,
      );
    if (tooLong.length > 0) process.exitCode = 1;

    const passed = count.passed - tooLong.length;
    console.log(`${passed} passed, ${count.failed + tooLong.length} failed, ${count.skipped} skipped`);
  }
}

/**
 * A busy machine takes longer for the same test, by the number of programs that share its cores. Those of continuous
 * integration are shared with programs that we do not see.
 */
function longestMs(): number {
  const [load = 0] = loadavg().slice(1);
  const unseen = process.env.CI === undefined ? 1 : 3;
  return LONGEST_FAST_MS * unseen * Math.max(1, load / availableParallelism());
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1).padStart(6)} s`;
}

function nameOf(test: TestCase): string {
  return `${test.module.relativeModuleId} > ${test.fullName}`;
}
