import { fingerprintOfFiles, fingerprintWithImports } from './fingerprint.ts';
import type { Records } from './records.ts';
import type { Room } from './rooms.ts';
import { filesBelow, type Site } from './sample.ts';
import type { TestFileResult } from './session.ts';
import type { TestSession } from './test-session.ts';

/** Of one test file without a mutant. */
export interface Measured {
  readonly hasPassed: boolean;
  readonly durationMs: number;
  /** Keys of the sites that it reaches. */
  readonly reached: readonly string[];
}

/** A test file that reaches a site. */
export interface CoveringTest {
  readonly file: string;
  readonly durationMs: number;
}

/** Test files per run, so that little is lost when time is up. */
const BATCH = 10;
/** Own sources that decide what is reached. */
const INSTRUMENTATION = ['mutations', 'schemata', 'setup'].map(name => `scripts/mutants/${name}.ts`);
/** Most tests that one mutant is run with, in milliseconds of their measured durations. */
const MAX_TESTS_MS = 60_000;

/** All test files of a room that run quickly. */
export function testsOf(room: Room): string[] {
  return filesBelow('test').filter(
    file => file.endsWith('.test.ts') && !file.endsWith('.slow.test.ts') && rankOf(room, file) >= 0,
  );
}

function rankOf({ tests }: Room, file: string): number {
  return tests.findIndex(prefix => file.startsWith(prefix));
}

/**
 * Measures test files that were not measured with the same content, support and sources. Returns what is known
 * of each file; files that there was no time for are missing.
 */
export async function measure(
  tests: readonly string[],
  sites: readonly Site[],
  at: { session: TestSession; records: Records<Measured>; deadline: number },
): Promise<Map<string, Measured>> {
  const instrumentation = fingerprintOfFiles(INSTRUMENTATION);
  const key = (file: string) => `${instrumentation} ${file} ${fingerprintWithImports(file)}`;
  const missing = tests.filter(file => at.records.get(key(file)) === undefined);
  for (let from = 0; from < missing.length && Date.now() < at.deadline; from += BATCH) {
    const batch = missing.slice(from, from + BATCH);
    const results = await at.session.run({ mutant: -1, tests: batch }, at.deadline - Date.now());
    for (const result of results ?? []) at.records.set(key(result.file), measuredOf(result, sites));
  }
  return new Map(
    tests.flatMap(file => {
      const measured = at.records.get(key(file));
      return measured === undefined ? [] : [[file, measured]];
    }),
  );
}

function measuredOf({ hasPassed, durationMs, reached }: TestFileResult, sites: readonly Site[]): Measured {
  return { hasPassed, durationMs, reached: reached.flatMap(id => sites[id]?.key ?? []) };
}

/**
 * Tests that reach a site, nearest folder and then shortest first. A worker loads a module once, so a site that runs
 * at load counts as reached by every test that reaches its file.
 */
export function coveringTests(
  site: Site,
  at: { room: Room; sites: readonly Site[]; measured: ReadonlyMap<string, Measured> },
): CoveringTest[] {
  const sameFile = at.sites.filter(other => other.file === site.file).map(other => other.key);
  const wanted = site.isAtLoad ? sameFile : [site.key];
  const covering = [...at.measured]
    .filter(([file, { hasPassed, reached }]) => {
      return hasPassed && rankOf(at.room, file) >= 0 && wanted.some(key => reached.includes(key));
    })
    .map(([file, { durationMs }]) => ({ file, durationMs, rank: rankOf(at.room, file) }))
    .sort((a, b) => a.rank - b.rank || a.durationMs - b.durationMs);
  let sum = 0;
  return covering.filter(({ durationMs }) => {
    sum += durationMs;
    return sum - durationMs < MAX_TESTS_MS;
  });
}
