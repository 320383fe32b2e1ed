import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('every bench has its figures in BENCHMARKS.md, and every group there has its bench', () => {
  const [, list = ''] = /const BENCHES[^{]*\{([^}]*)\}/.exec(readFileSync('scripts/bench.ts', 'utf8')) ?? [];
  const benches = [...list.matchAll(/^ {2}'?([\w-]+)'?:/gm)].map(([, name]) => name);
  const reported = [...readFileSync('BENCHMARKS.md', 'utf8').matchAll(/^`npm run bench -- ([\w -]+)`/gm)];

  expect(reported.flatMap(([, names = '']) => names.split(' ')).sort()).toEqual(benches.sort());
  expect(benches).toContain('hits');
});
