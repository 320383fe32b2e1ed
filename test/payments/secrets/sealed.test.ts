import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SealError, seals } from '#payments/secrets/sealed.ts';

const OLD = 'the first secret, which was used for a year';
const NEW = 'the second secret, which is used from today on';
const CELL = { table: 'webhooks', column: 'secret', id: 'wh_1' };

const text = fc.string({ unit: 'binary' }).filter(one => one.isWellFormed());
const cell = fc.record({ table: fc.string(), column: fc.string(), id: fc.string() });

function kindOf(open: () => string): string {
  try {
    return `opened: ${open()}`;
  } catch (error) {
    if (error instanceof SealError) return error.kind;
    throw error;
  }
}

test('every text opens in its own cell, and its sealed form differs each time', () => {
  const { seal, open } = seals([NEW]);

  fc.assert(
    fc.property(text, cell, (plain, place) => {
      const [once, twice] = [seal(plain, place), seal(plain, place)];
      expect(once).toMatch(/^v1\.[0-9a-f]{8}\.[\w-]+$/);
      expect(once).not.toBe(twice);
      expect(open(once, place)).toBe(plain);
    }),
  );
});

test('no value opens in another cell', () => {
  const { seal, open } = seals([NEW]);

  fc.assert(
    fc.property(text, cell, cell, (plain, place, other) => {
      fc.pre(JSON.stringify(Object.values(place)) !== JSON.stringify(Object.values(other)));
      expect(kindOf(() => open(seal(plain, place), other))).toBe('damaged');
    }),
  );
  const shifted = { table: 'webhook', column: 'ssecret', id: 'wh_1' };
  expect(kindOf(() => open(seal('x', CELL), shifted))).toBe('damaged');
});

test('no value opens after a change anywhere in it', () => {
  const { seal, open } = seals([NEW]);

  fc.assert(
    fc.property(text, fc.nat(), fc.constantFrom(...'Aa0_-.z'), (plain, where, character) => {
      const sealed = seal(plain, CELL);
      const at = where % sealed.length;
      fc.pre(sealed[at] !== character);
      const changed = sealed.slice(0, at) + character + sealed.slice(at + 1);
      expect(['damaged', 'unknown_key']).toContain(kindOf(() => open(changed, CELL)));
    }),
    { numRuns: 500 },
  );
  for (const nonsense of ['', 'v1', 'v1..', 'v1.00000000.', 'plain text', seal('x', CELL).slice(0, -1)]) {
    expect(kindOf(() => open(nonsense, CELL))).toBe('damaged');
  }
});

test('after a rotation old values still open, and new values need the new secret', () => {
  const before = seals([OLD]);
  const during = seals([NEW, OLD]);
  const after = seals([NEW]);
  const old = before.seal('whsec_old', CELL);

  expect(during.open(old, CELL)).toBe('whsec_old');
  expect(during.keyIds).toEqual([...after.keyIds, ...before.keyIds]);
  const renewed = during.seal(during.open(old, CELL), CELL);
  expect(renewed).toContain(`v1.${during.keyIds[0]}.`);
  expect(after.open(renewed, CELL)).toBe('whsec_old');
  expect(kindOf(() => after.open(old, CELL))).toBe('unknown_key');
  expect(kindOf(() => before.open(renewed, CELL))).toBe('unknown_key');
});

test('an error names the cell, without the value or the secret', () => {
  const sealed = seals([NEW]).seal('whsec_hidden', CELL);

  const failing = () => seals([OLD]).open(sealed, CELL);

  expect(failing).toThrow('The value of webhooks.secret of wh_1 was sealed with a key that is not known.');
});

test('hashes are equal for equal texts, and differ by column and by secret', () => {
  const column = { table: 'sessions', column: 'client' };
  const ours = seals(['a secret of tests, long enough to be one']);
  const theirs = seals(['another secret of tests, as long as that']);

  const hashes = [
    ours.hash('203.0.113.1', column),
    ours.hash('203.0.113.2', column),
    ours.hash('203.0.113.1', { ...column, column: 'other' }),
    theirs.hash('203.0.113.1', column),
  ];

  expect(ours.hash('203.0.113.1', column)).toBe(hashes[0]);
  expect(new Set(hashes).size).toBe(4);
});
