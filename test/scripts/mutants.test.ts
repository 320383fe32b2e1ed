import { stripTypeScriptTypes } from 'node:module';
import { expect, test } from 'vitest';
import { EQUIVALENT } from '../../scripts/mutants/equivalent.ts';
import { mutationsOf } from '../../scripts/mutants/mutations.ts';
import { ROOMS } from '../../scripts/mutants/rooms.ts';
import { drawn, isEquivalent, sitesOf, sitesOfRoom } from '../../scripts/mutants/sample.ts';
import { schemata } from '../../scripts/mutants/schemata.ts';

/** Every mutation of a text, as `original → replacement`. */
function changesOf(text: string): string[] {
  return mutationsOf('a.ts', text).map(({ original, replacement }) => `${original} → ${replacement}`);
}

test.each([
  ['const a = b < c;', ['b < c → b <= c']],
  ['const a = b === c && d;', ['b === c && d → (b === c) || (d)', 'b === c → b !== c']],
  ['const a = b ?? c;', ['b ?? c → b']],
  ['const a = b + c;', ['b + c → b - c']],
  ["const a = b + 'c';", []],
  ['const a = !b;', ['!b → b']],
  ['const a = [2, 2n, 5_000, true];', ['2 → 3', '2n → 3n', 'true → false']],
  ['if (a) b = c;', ['a → true', 'a → false']],
  ['while (a) b = c;', ['a → false']],
  ['const a = b ? c : d;', ['b → true', 'b → false']],
  ['async () => { await a(); };', ['await a(); → ']],
  ['const a = b.filter(c);', ['b.filter(c) → b']],
  ['const a = b.some(c);', ['b.some(c) → b.every(c)']],
  ['const a = Math.min(b, c);', ['Math.min(b, c) → Math.max(b, c)']],
])('%s has its mutations', (text, changes) => {
  expect(changesOf(text)).toEqual(changes);
});

test.each([
  "import { a } from 'b';",
  'type A = 1 | true;',
  'const a: 1 | 2 = b;',
  'enum A { B = 1 }',
  "log.warn({ a: 1 }, 'b');",
  "if (a === b) { this.log.info('c'); }",
  'throw new RangeError(a + b);',
  'const a = b?.filter(c);',
  'const a = b.toString();',
])('%s has no mutation', text => {
  expect(changesOf(text)).toEqual([]);
});

const SOURCE = `
export const sum = (numbers: readonly number[]): number => {
  const kept: number[] = [];
  for (const number of numbers.filter(n => n > 0 && !(n > 10))) if (number !== 7) kept.push(number);
  return kept.length === 0 ? -1 : kept.reduce((a, b) => a + b);
};
`;
const INPUTS = [[], [1, 2], [0, 5], [7, 3], [10, 11], [-4]];

/** Results of the function in `SOURCE` or in a mutant of it. */
function resultsOf(text: string, isOn: (id: number) => boolean = () => false): unknown[] {
  const code = stripTypeScriptTypes(text).replace('export const sum =', 'return');
  const sum = new Function('globalThis', code)({ mutants: { isOn } });
  return INPUTS.map(numbers => {
    try {
      return sum(numbers);
    } catch (error) {
      return String(error);
    }
  });
}

test('a source with all mutants behaves like the original until one is switched on', () => {
  const mutations = mutationsOf('sum.ts', SOURCE).map((mutation, id) => ({ ...mutation, id }));
  const code = schemata(SOURCE, mutations);

  const off = resultsOf(code);
  const mutants = mutations.map(({ id }) => resultsOf(code, other => other === id));

  const replaced = mutations.map(({ start, end, replacement, isStatement }) =>
    resultsOf(SOURCE.slice(0, start) + (isStatement ? ';' : `(${replacement})`) + SOURCE.slice(end)),
  );
  expect(mutations.length).toBeGreaterThan(12);
  expect(off).toEqual(resultsOf(SOURCE));
  expect(mutants).toEqual(replaced);
  expect(new Set(mutants.map(results => JSON.stringify(results))).size).toBeGreaterThan(6);
});

test('a sample depends on its seed, and stays when other lines change', () => {
  const before = sitesOf('sum.ts', SOURCE);
  const after = sitesOf('sum.ts', `const limit = 3;\n${SOURCE}`);
  const keys = (sites: readonly { key: string }[], seed: number) => drawn(sites, seed).map(({ key }) => key);
  const old = new Set(before.map(({ key }) => key));

  expect(keys(before, 1)).toEqual(keys(before.toReversed(), 1));
  expect(keys(before, 1)).not.toEqual(keys(before, 2));
  expect(keys(after, 1).filter(key => old.has(key))).toEqual(keys(before, 1));
  expect(old.size).toBe(before.length);
});

test('every room has enough mutations, and every equivalent one exists', () => {
  const sites = ROOMS.map(sitesOfRoom);

  expect(Math.min(...sites.map(({ length }) => length))).toBeGreaterThan(100);
  expect(sites.flat().filter(isEquivalent).length).toBeGreaterThanOrEqual(EQUIVALENT.length);
});
