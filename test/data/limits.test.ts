import { expect, test } from 'vitest';
import {
  checkNftsOfOwners,
  checkPage,
  checkTokensNamed,
  namedChains,
} from '../../src/data/insights/limits.ts';

const upTo = (count: number, from = 1) => Array.from({ length: count }, (_, index) => from + index);

test('chains in both parameters are asked once each, in the given order', () => {
  expect(namedChains({})).toEqual([]);
  expect(namedChains({ chain: [10, 1] })).toEqual([10, 1]);
  expect(namedChains({ chain_id: [8453, 1, 8453], chain: [1, 10] })).toEqual([8453, 1, 10]);
});

test('both parameters together may name 55 chains and no more', () => {
  expect(namedChains({ chain_id: upTo(30), chain: upTo(25, 31) })).toHaveLength(55);
  expect(() => namedChains({ chain_id: upTo(30), chain: upTo(26, 31) })).toThrow(
    'chain_id: must have at most 55 items, those of chain included',
  );
});

test.each([
  [{ page: 20 }, undefined],
  [{ page: 21 }, 'page: must be at most 20 without aggregate and group_by'],
  [{ page: 500, aggregate: ['count()'] }, undefined],
  [{ page: 500, group_by: ['miner'] }, undefined],
  [{ page: 501, aggregate: ['count()'] }, 'page: must be at most 500'],
])('for %j the page limit depends on whether groups are requested', (query, message) => {
  const judging = () => checkPage(query);

  if (message === undefined) expect(judging).not.toThrow();
  else expect(judging).toThrow(expect.objectContaining({ status: 400, message }));
});

test('prices can be requested by address, by symbol or by both', () => {
  expect(() => checkTokensNamed({ address: ['0x'] })).not.toThrow();
  expect(() => checkTokensNamed({ symbol: ['USDC'] })).not.toThrow();
  expect(() => checkTokensNamed({})).toThrow('address: is required unless symbol is given');
});

test('the owners of a request have at most 1,000 NFTs in total', () => {
  expect(() => checkNftsOfOwners({ limit: 1_000, owner_address: ['a.eth'] })).not.toThrow();
  expect(() => checkNftsOfOwners({ limit: 333, owner_address: ['a.eth', 'b.eth', 'c.eth'] })).not.toThrow();
  expect(() => checkNftsOfOwners({ limit: 334, owner_address: ['a.eth', 'b.eth', 'c.eth'] })).toThrow(
    expect.objectContaining({ status: 400, message: 'limit: must be at most 333 for 3 owners' }),
  );
});
