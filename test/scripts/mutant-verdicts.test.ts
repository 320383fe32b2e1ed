import { expect, test } from 'vitest';
import type { Measured } from '../../scripts/mutants/coverage.ts';
import { judging, type Verdict } from '../../scripts/mutants/judge.ts';
import { sitesOf } from '../../scripts/mutants/sample.ts';
import type { RunRequest, TestFileResult } from '../../scripts/mutants/session.ts';

/** Test files of this project. Verdicts depend on their content. */
const [NEAR, FAR] = ['test/scripts/mutants.test.ts', 'test/scripts/mutant-verdicts.test.ts'] as const;
const ROOM = { name: 'room', sources: 'scripts/mutants/', tests: [NEAR, FAR] };
const SITES = sitesOf('scripts/mutants/judge.ts', 'const a = () => [b < c, d < e, f < g];');

type Outcome = 'passes' | 'fails' | 'is late' | 'never ends';

/** Verdicts on all sites, where each run of a test file ends as told. `runs` has every run as text. */
async function judged(outcomeOf: (request: { mutant: number; file: string }) => Outcome) {
  const runs: string[] = [];
  const resultOf = (outcome: Outcome, file: string): TestFileResult => ({
    file,
    hasPassed: outcome === 'passes',
    isLate: outcome === 'is late',
    durationMs: 1,
    reached: [],
  });
  const session = {
    async run({ mutant, tests }: RunRequest) {
      runs.push(`${mutant}: ${tests.map(file => (file === NEAR ? 'near' : 'far')).join(', ')}`);
      const outcomes = tests.map(file => ({ file, outcome: outcomeOf({ mutant, file }) }));
      if (outcomes.some(({ outcome }) => outcome === 'never ends')) return undefined;
      return outcomes.map(({ outcome, file }) => resultOf(outcome, file));
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const kept = new Map<string, Verdict>();
  const records = {
    get: (key: string) => kept.get(key),
    set: (key: string, verdict: Verdict) => void kept.set(key, verdict),
  };
  const reached = SITES.map(({ key }) => key);
  const measured = new Map(
    [NEAR, FAR].map((file): [string, Measured] => [file, { hasPassed: true, durationMs: 1, reached }]),
  );
  const deadline = Date.now() + 3_600_000;
  const judge = judging({ room: ROOM, sites: SITES, measured, records, session, deadline });
  const verdicts: (Verdict['outcome'] | undefined)[] = [];
  for (const site of SITES) verdicts.push((await judge(site))?.outcome);
  return { verdicts, runs };
}

test('a mutant runs with the nearest test file, and with the others only when it passes that one', async () => {
  const { verdicts, runs } = await judged(({ mutant, file }) =>
    mutant === 0 && file === FAR ? 'fails' : 'passes',
  );

  expect(verdicts).toEqual(['caught', 'survived', 'survived']);
  // From then on, the file that failed runs first.
  expect(runs).toEqual(['0: near', '0: far', '1: far', '1: near', '2: far', '2: near']);
});

test.each<Outcome>(['is late', 'never ends'])(
  'a mutant with which a test %s is late when it is in time without it',
  async outcome => {
    const slow = await judged(({ mutant }) => (mutant === 1 ? outcome : 'passes'));
    const busy = await judged(({ mutant }) => (mutant === 1 || mutant === -1 ? outcome : 'passes'));

    expect(slow.verdicts).toEqual(['survived', 'late', 'survived']);
    expect(busy.verdicts).toEqual(['survived', undefined, 'survived']);
    expect(slow.runs).toContain('-1: near');
  },
);
