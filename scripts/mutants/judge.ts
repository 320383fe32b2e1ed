import { type CoveringTest, coveringTests, type Measured } from './coverage.ts';
import { fingerprintOfFiles } from './fingerprint.ts';
import type { Records } from './records.ts';
import type { Room } from './rooms.ts';
import type { Site } from './sample.ts';
import type { TestSession } from './test-session.ts';

/** Result of one mutant. */
export interface Verdict {
  /**
   * `late`: tests took too long with the mutant, and passed in the same time right after, without it. `unreached`: no
   * test runs the site.
   */
  readonly outcome: 'caught' | 'late' | 'survived' | 'unreached';
  /** Test files that it was run with. Of a caught mutant, those that failed. */
  readonly tests: readonly string[];
  readonly fingerprint: string;
}

export interface JudgeOptions {
  readonly room: Room;
  /** All sites, by id. */
  readonly sites: readonly Site[];
  readonly measured: ReadonlyMap<string, Measured>;
  readonly records: Records<Verdict>;
  readonly session: TestSession;
  readonly deadline: number;
}

/** Time limit of a mutant's tests: three times their duration, and the start of a worker. */
const LIMIT_FACTOR = 3;
const START_LIMIT_MS = 20_000;

/**
 * Returns the verdict on a site: runs the tests that reach it with its mutant, or takes the verdict of an earlier run of
 * the same source and tests. Undefined when the deadline comes first, or when tests take too long without the mutant
 * too: then the machine is too busy to tell.
 *
 * One test file runs before the others, because most mutants fail it, and starting one worker is cheap. It is the one
 * that failed with the most mutants of the same source, and at first the nearest.
 */
export function judging(options: JudgeOptions): (site: Site) => Promise<Verdict | undefined> {
  const { records, session, deadline, sites } = options;
  /** Number of mutants that failed a test file, by source and test file. */
  const catches = new Map<string, number>();
  const caughtBy = (site: Site, test: string) => catches.get(`${site.file} ${test}`) ?? 0;

  return async site => {
    const key = `${site.key} ${fingerprintOfFiles([site.file])}`;
    const covering = coveringTests(site, options);
    const known = records.get(key);
    const isKnown = known !== undefined && isStillTrue(known, covering);
    if (!isKnown && Date.now() >= deadline) return undefined;
    const found = isKnown ? known : await run(site, covering);
    if (found === undefined) return undefined;
    if (!isKnown) records.set(key, found);
    if (found.outcome === 'caught') {
      for (const test of found.tests) catches.set(`${site.file} ${test}`, caughtBy(site, test) + 1);
    }
    return found;
  };

  async function run(site: Site, covering: readonly CoveringTest[]): Promise<Verdict | undefined> {
    const ordered = covering.toSorted((a, b) => caughtBy(site, b.file) - caughtBy(site, a.file));
    if (ordered.length === 0) return verdict('unreached', []);
    for (const tests of [ordered.slice(0, 1), ordered.slice(1)]) {
      if (tests.length === 0) continue;
      const found = await runSome(site, tests);
      if (found !== 'survived') return found;
    }
    return verdict(
      'survived',
      covering.map(({ file }) => file),
    );
  }

  async function runSome(
    site: Site,
    covering: readonly CoveringTest[],
  ): Promise<Verdict | 'survived' | undefined> {
    const tests = covering.map(({ file }) => file);
    const expectedMs = covering.reduce((sum, { durationMs }) => sum + durationMs, 0);
    const limitMs = LIMIT_FACTOR * expectedMs + START_LIMIT_MS;
    const leftMs = deadline - Date.now();
    const results = await session.run({ mutant: sites.indexOf(site), tests }, Math.min(limitMs, leftMs));
    if (results === undefined) return leftMs < limitMs ? undefined : lateUnlessBusy(tests, limitMs);
    const failed = results.filter(({ hasPassed }) => !hasPassed);
    if (failed.length === 0) return 'survived';
    const files = failed.map(({ file }) => file);
    return failed.every(({ isLate }) => isLate) ? lateUnlessBusy(files, limitMs) : verdict('caught', files);
  }

  /** Time alone proves nothing on a busy machine, so the tests run once more without the mutant. */
  async function lateUnlessBusy(tests: readonly string[], limitMs: number): Promise<Verdict | undefined> {
    const results = await session.run({ mutant: -1, tests }, Math.min(limitMs, deadline - Date.now()));
    const isProven = results?.every(({ hasPassed }) => hasPassed) === true;
    return isProven ? verdict('late', tests) : undefined;
  }
}

function verdict(outcome: Verdict['outcome'], tests: readonly string[]): Verdict {
  return { outcome, tests, fingerprint: fingerprintOfFiles(tests) };
}

/** A caught mutant stays caught while the test that failed is the same; a survivor may be caught by another one. */
function isStillTrue({ outcome, tests, fingerprint }: Verdict, covering: readonly CoveringTest[]): boolean {
  const files = covering.map(({ file }) => file);
  const isCovering = tests.every(file => files.includes(file));
  if (!isCovering || fingerprintOfFiles(tests) !== fingerprint) return false;
  return outcome === 'caught' || outcome === 'late' || files.length === tests.length;
}
