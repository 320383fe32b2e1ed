import { expect, test } from 'vitest';
import { decodedInputOrNull } from '#data/backends/blockscout/normalise/decoded.ts';

const ALICE = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045';

test('arguments are strings: arrays and tuples are compact JSON of strings', () => {
  const parameters = [
    { name: 'data', type: 'bytes[]', value: ['0x01', '0x02'] },
    { name: null, type: '(address,uint24[],bool)', value: [ALICE, [500, 3000n], true] },
    { name: 'on', type: 'bool', value: true },
    { name: 'id', type: 'uint256', value: 2n ** 200n },
  ];

  const decoded = decodedInputOrNull({ method_call: 'f(…)', method_id: '0xA9059CBB', parameters });

  expect(decoded?.method_id).toBe('a9059cbb');
  expect(decoded?.parameters).toEqual([
    { name: 'data', type: 'bytes[]', value: '["0x01","0x02"]' },
    { name: '', type: '(address,uint24[],bool)', value: `["${ALICE}",["500","3000"],"true"]` },
    { name: 'on', type: 'bool', value: 'true' },
    { name: 'id', type: 'uint256', value: (2n ** 200n).toString() },
  ]);
});

test('a call without a selector, or with a value that upstream could not write, counts as not decoded', () => {
  const decoded = (fields: object) =>
    decodedInputOrNull({ method_call: 'f(uint256 a)', method_id: 'a9059cbb', parameters: [], ...fields });

  expect(decoded({})?.parameters).toEqual([]);
  expect(decoded({ parameters: [{ name: 'a', type: 'uint256', value: null }] })).toBeNull();
  expect(decoded({ method_id: null })).toBeNull();
});
