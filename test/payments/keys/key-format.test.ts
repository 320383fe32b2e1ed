import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hashOfKey, isWellFormedKey, modeOfKey, newKey } from '#payments/keys/api-key.ts';

/** Fixed examples: issued keys have to stay valid. */
const KNOWN = 'tg_live_0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0u3DRZgJ';

const modes = fc.constantFrom('live' as const, 'test' as const);

describe('an API key', () => {
  test('has its mode, 32 random characters and a checksum of 6, and is well formed', () => {
    fc.assert(
      fc.property(modes, mode => {
        const key = newKey(mode);

        expect(key).toMatch(new RegExp(`^tg_${mode}_[0-9A-Za-z]{32}[0-9A-Za-z]{6}$`));
        expect(isWellFormedKey(key)).toBe(true);
        expect(modeOfKey(key)).toBe(mode);
      }),
    );
  });

  test('issued by an earlier version stays well formed', () => {
    expect(isWellFormedKey(KNOWN)).toBe(true);
    expect(modeOfKey(KNOWN)).toBe('live');
  });

  test('with any one character changed is refused', () => {
    fc.assert(
      fc.property(modes, fc.nat(), fc.string({ minLength: 1, maxLength: 1 }), (mode, at, character) => {
        const key = newKey(mode);
        const place = at % key.length;
        fc.pre(key[place] !== character);

        const changed = key.slice(0, place) + character + key.slice(place + 1);

        expect(isWellFormedKey(changed)).toBe(false);
        expect(modeOfKey(changed)).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });

  test('with one letter or digit mistyped anywhere is refused', () => {
    const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    const key = newKey('live');

    const mistyped = [...key].flatMap((original, place) =>
      [...alphabet]
        .filter(character => character !== original)
        .map(character => key.slice(0, place) + character + key.slice(place + 1)),
    );

    expect(mistyped.length).toBeGreaterThan(2_000);
    expect(mistyped.filter(isWellFormedKey)).toEqual([]);
  });

  test('with neighbours swapped, a character more or less, or the other mode is refused', () => {
    const key = newKey('test');
    const swapped = Array.from(
      { length: key.length - 1 },
      (_, i) => key.slice(0, i) + key.charAt(i + 1) + key.charAt(i) + key.slice(i + 2),
    ).filter(text => text !== key);

    const others = [...swapped, `${key}0`, key.slice(0, -1), ` ${key}`, `${key}\n`, ''];

    expect(others.filter(isWellFormedKey)).toEqual([]);
    expect(isWellFormedKey(key.replace('tg_test_', 'tg_live_'))).toBe(false);
  });

  test('is never generated twice', () => {
    const keys = Array.from({ length: 1_000 }, () => newKey('live'));

    expect(new Set(keys).size).toBe(1_000);
  });

  test('is stored as the SHA-256 of all its characters', () => {
    expect(hashOfKey(KNOWN)).toEqual(createHash('sha256').update(KNOWN).digest());
    expect(hashOfKey('')).toEqual(
      Buffer.from('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'hex'),
    );
  });
});
