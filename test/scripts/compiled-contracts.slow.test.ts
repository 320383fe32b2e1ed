import { expect, test } from 'vitest';
import { compileContracts } from '../../scripts/compile-contracts.ts';

test('the committed bytes and settings of every contract are those that the compiler makes of its source', async () => {
  expect(await compileContracts({ check: true, isFresh: true })).toEqual([]);
});
