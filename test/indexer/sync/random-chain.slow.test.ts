import { join } from 'node:path';
import fc from 'fast-check';
import type { Address, Hex } from 'viem';
import { expect, test } from 'vitest';
import { eachDatabase } from '#test/support/databases.ts';
import { countedAgain, keptCounts } from '../kept-counts.ts';
import {
  canonicalContent,
  type Deployed,
  openTestIndex,
  startTestChain,
  type TestChain,
} from '../support.ts';

type Step =
  | { kind: 'block'; transactions: { from: number; action: number }[] }
  | { kind: 'reorg'; depth: number; keep: number }
  | { kind: 'sync' };

/** Time after which no further run begins, in milliseconds. */
const LONGEST_MS = 8_000;

const sender = fc.integer({ min: 0, max: 3 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('block' as const),
      transactions: fc.array(fc.record({ from: sender, action: fc.nat({ max: 5 }) }), { maxLength: 4 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('reorg' as const),
      depth: fc.integer({ min: 1, max: 6 }),
      keep: fc.nat({ max: 3 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('sync' as const) }) },
);

eachDatabase('an index that follows a chain', databases => {
  test('ends like a fresh one of the final chain, after any blocks and reorganisations', async () => {
    const chain = await startTestChain();
    try {
      const play = await player(chain);
      let run = 0;
      const startedAt = performance.now();
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 18 }), async steps => {
          // A busy machine makes fewer runs, each of them complete.
          if (run > 0 && performance.now() - startedAt > LONGEST_MS) return;
          run += 1;
          const database = await databases.create('index');
          const followed = await openTestIndex({ database, client: chain.client });
          try {
            for (const one of steps) {
              if (one.kind === 'sync') await followed.runOnce();
              else await play(one);
            }
            await followed.runOnce();
            await followed.runOnce();
          } finally {
            await followed.stop();
          }
          const freshFile = join(chain.folder, `fresh-${run}.sqlite`);
          const fresh = await openTestIndex({ file: freshFile, client: chain.client });
          await fresh.runOnce();
          await fresh.stop();

          expect(await canonicalContent(database)).toEqual(await canonicalContent(freshFile));
          expect(await keptCounts(database)).toEqual(await countedAgain(database));
        }),
        { numRuns: 12 },
      );
    } finally {
      await chain.stop();
    }
  });
});

/** Plays steps on the chain. Every account has acted once before, so every index knows all of them. */
async function player(chain: TestChain): Promise<(step: Exclude<Step, { kind: 'sync' }>) => Promise<void>> {
  const coin = await chain.deploy('StableToken', ['Dollar', 'USD']);
  const cards = await chain.deploy('Postcards', ['Cards', 'CARD']);
  const items = await chain.deploy('GameItems', ['Items', 'ITEM']);
  await chain.mine();
  const addresses = chain.accounts.addresses.slice(0, 4);
  for (const [from, address] of addresses.entries()) {
    await chain.send(0, coin.call('mint', [address, 1_000_000n]));
    await chain.send(from, { to: address, value: 1n });
  }
  await chain.mine();
  const base = 2;
  const sent: Hex[] = [];

  return async one => {
    const height = Number(await chain.rpc.call('eth_blockNumber'));
    if (one.kind === 'reorg') {
      const depth = Math.min(one.depth, height - base);
      if (depth < 1) return;
      // Some old transactions are sent again, in order, while the node accepts them.
      const again = sent.slice(sent.length - one.keep).map((signed): [Hex, number] => [signed, 0]);
      await chain.reorg(depth, again).catch(() => chain.reorg(depth));
      return;
    }
    for (const { from, action } of one.transactions) {
      const transaction = actionOf({ coin, cards, items, addresses }, { from, action, height });
      const owner = transaction.isOwned ? 0 : from;
      const { signed } = await chain.send(owner, transaction.send);
      sent.push(signed);
    }
    await chain.mine();
  };
}

function actionOf(
  {
    coin,
    cards,
    items,
    addresses,
  }: { coin: Deployed; cards: Deployed; items: Deployed; addresses: Address[] },
  { from, action, height }: { from: number; action: number; height: number },
): { isOwned: boolean; send: { to?: Address; value?: bigint; data?: Hex } } {
  const other = addresses[(from + 1) % addresses.length] ?? coin.address;
  const stranger: Address = `0x${(1_000 + height).toString(16).padStart(40, '0')}`;
  const actions = [
    { isOwned: false, send: { to: stranger, value: 3n } },
    { isOwned: false, send: coin.call('transfer', [other, 5n]) },
    { isOwned: false, send: coin.call('burn', [7n]) },
    { isOwned: true, send: cards.call('mint', [other]) },
    { isOwned: true, send: items.call('mintBatch', [other, [1n, BigInt(height % 3) + 2n], [2n, 3n]]) },
    { isOwned: false, send: coin.call('transfer', [stranger, 10_000_000n]) },
  ];
  return actions[action] ?? { isOwned: false, send: { to: other, value: 1n } };
}
