/**
 * Judges the tests by mutants, which are copies of the sources with one fault each:
 *   npm run mutants [-- ROOM... --minutes N --sample N --seed N --again --verbose]
 * Runs a seeded sample of mutants per room against the quick tests that reach them, and prints how many fail a test.
 * A later run continues where time ended; with `--again` it starts over. Exits with 1 unless every room reached
 * its score.
 *
 * This is our own, because StrykerJS 10 adds 153 packages and did not finish 90 mutants of one file in 500 seconds.
 */
import { parseArgs } from 'node:util';
import { type Measured, measure, testsOf } from './mutants/coverage.ts';
import { fingerprintOfFiles } from './mutants/fingerprint.ts';
import { judging, type Verdict } from './mutants/judge.ts';
import { openRecords } from './mutants/records.ts';
import { ROOMS, type Room } from './mutants/rooms.ts';
import { drawn, isEquivalent, type Site, sitesOfRoom } from './mutants/sample.ts';
import { testSession } from './mutants/test-session.ts';
import { typeChecker } from './mutants/type-check.ts';

const WANTED_SCORE = 0.85;

const { values, positionals } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    sample: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
    again: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const [minutes, size, seed] = [values.minutes, values.sample, values.seed].map(Number);
const rooms = positionals.length === 0 ? ROOMS : ROOMS.filter(({ name }) => positionals.includes(name));
if (!minutes || !size || seed === undefined || Number.isNaN(seed) || rooms.length < positionals.length) {
  console.error(`usage: npm run mutants -- [ROOM...] [--minutes N] [--sample N] [--seed N] [--again] [--verbose]
rooms: ${ROOMS.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}

const deadline = Date.now() + minutes * 60_000;
// The sites of all rooms are instrumented, so what a test file reaches is measured once for all of them.
const sites = ROOMS.flatMap(sitesOfRoom);
const instrumented = Object.groupBy(
  sites.map((site, id) => ({ ...site, id })),
  ({ file }) => file,
);
const compiles = compileCheck(openRecords<boolean>('compiles', values.again));
const coverage = openRecords<Measured>('coverage', values.again);
const verdicts = openRecords<Verdict>('verdicts', values.again);

await using session = testSession(instrumented, values.verbose);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await session[Symbol.asyncDispose]();
    process.exit(1);
  });
}
for (const room of rooms) {
  const sample = sampleOf(room, size);
  const tests = testsOf(room);
  const measured = await measure(tests, sites, { session, records: coverage, deadline });
  for (const [file, { hasPassed }] of measured) if (!hasPassed) console.log(`${file} fails without a mutant`);
  const judged: { site: Site; verdict: Verdict }[] = [];
  if (measured.size === tests.length) {
    const judge = judging({ room, sites, measured, records: verdicts, session, deadline });
    for (const site of sample) {
      const verdict = await judge(site);
      if (verdict !== undefined) judged.push({ site, verdict });
    }
  }
  report(room, judged, sample.length);
}

/** The sample of a room, without equivalent mutants and those that do not compile. */
function sampleOf(room: Room, most: number): Site[] {
  const sample: Site[] = [];
  for (const site of drawn(sitesOfRoom(room), seed ?? 0)) {
    if (sample.length === most) break;
    if (isEquivalent(site) || !compiles(site)) continue;
    const withId = sites.find(({ key }) => key === site.key);
    if (withId !== undefined) sample.push(withId);
  }
  return sample;
}

function compileCheck(records: ReturnType<typeof openRecords<boolean>>): (site: Site) => boolean {
  let check: ReturnType<typeof typeChecker> | undefined;
  return site => {
    const key = `${site.key} ${fingerprintOfFiles([site.file])}`;
    const known = records.get(key);
    if (known !== undefined) return known;
    check ??= typeChecker([...new Set(sites.map(({ file }) => file))]);
    const isCompiling = check(site.file, site);
    records.set(key, isCompiling);
    return isCompiling;
  };
}

function report({ name }: Room, judged: readonly { site: Site; verdict: Verdict }[], wanted: number): void {
  const count = (outcome: Verdict['outcome']) =>
    judged.filter(({ verdict }) => verdict.outcome === outcome).length;
  const caught = count('caught') + count('late');
  const score = judged.length === 0 ? 0 : caught / judged.length;
  if (score < WANTED_SCORE || judged.length < wanted) process.exitCode = 1;

  for (const { site, verdict } of judged) {
    if (verdict.outcome !== 'survived' && verdict.outcome !== 'unreached') continue;
    const { file, lineNumber, original, replacement } = site;
    console.log(`\n${file}:${lineNumber} ${verdict.outcome}\n- ${original}\n+ ${replacement}`);
  }
  console.log(
    `\n${name}: ${caught} of ${judged.length} caught, ${(100 * score).toFixed(0)} % (${count('late')} by the time limit, ` +
      `${count('unreached')} not reached by a test, ${wanted - judged.length} not run)`,
  );
}
