import { expect, test } from 'vitest';
import { withExactIntegers } from '../../src/data/pages/browser/exact-integers.ts';

test('an integer of any size keeps all its digits', () => {
  const json = '{"reward":731537800000000001,"list":[-9007199254740993, 12],"share":0.5000000000000000001}';

  expect(JSON.parse(withExactIntegers(json))).toEqual({
    reward: '731537800000000001',
    list: ['-9007199254740993', 12],
    share: 0.5,
  });
});

test('an integer within a string is not changed', () => {
  const value = { name: 'a": 1234567890123456789, "b', path: '\\', hash: '12345678901234567890' };

  expect(JSON.parse(withExactIntegers(JSON.stringify(value)))).toEqual(value);
});
