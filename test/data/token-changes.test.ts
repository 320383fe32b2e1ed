import { expect, test } from 'vitest';
import { tokenChanges } from '../../src/data/backends/own-index/transactions/token-changes.ts';

const token = `0x${'11'.repeat(20)}` as const;
const from = `0x${'22'.repeat(20)}` as const;
const to = `0x${'33'.repeat(20)}` as const;

test('a transaction that moves very many NFTs between two addresses is added up in linear time', () => {
  const moves = Array.from({ length: 60_000 }, (_, id) => ({
    transactionIndex: 3,
    token,
    tokenType: 'ERC-721' as const,
    from,
    to,
    tokenId: BigInt(id),
    amount: null,
  }));

  const [sent, received, ...others] = tokenChanges(moves, 3);

  expect(others).toEqual([]);
  expect([sent?.holder, sent?.difference, sent?.nfts.length]).toEqual([from, -60_000n, 60_000]);
  expect([received?.holder, received?.nfts.at(-1)]).toEqual([to, { direction: 'to', tokenId: 59_999n }]);
  expect(tokenChanges(moves, 2)).toEqual([]);
});
