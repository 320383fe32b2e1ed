import { expect, test } from 'vitest';
import { isId, newId, randomBase62 } from '../../src/lib/ids.ts';

test('an id is its prefix and 24 base62 characters, and never repeats', () => {
  const ids = Array.from({ length: 1_000 }, () => newId('pl'));

  for (const id of ids) expect(id).toMatch(/^pl_[0-9A-Za-z]{24}$/);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.every(id => isId('pl', id))).toBe(true);
});

test('a text that is not an id of the kind is recognised as such', () => {
  const id = newId('pl');

  for (const other of [
    '',
    'pl_',
    id.slice(1),
    `${id}0`,
    id.replace('pl_', 'cs_'),
    `${id.slice(0, -1)}/`,
    `${id}\n`,
  ]) {
    expect(isId('pl', other)).toBe(false);
  }
});

test('every character is equally likely', () => {
  const seen = new Map<string, number>();
  const length = 620_000;
  for (const character of randomBase62(length)) seen.set(character, (seen.get(character) ?? 0) + 1);

  // 10,000 of each are expected with a standard deviation of 100; a plain remainder would give eight of them 12,500.
  expect(seen.size).toBe(62);
  for (const count of seen.values()) expect(Math.abs(count - length / 62)).toBeLessThan(700);
});

test('an id has the requested number of characters', () => {
  for (const length of [0, 1, 7, 24, 32]) expect(randomBase62(length)).toHaveLength(length);
});
