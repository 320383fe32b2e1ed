import { afterAll, beforeAll, expect, test } from 'vitest';
import { NATIVE_COIN } from '../../../src/payments/model/payment-chain.ts';
import { sqliteDatabase } from '../../support/databases.ts';
import { faultyNode } from '../../support/faulty-node.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { startPaymentChain, type TestPaymentChain } from '../../support/payment-chain.ts';
import { BLOCKS_TO_SETTLE, paymentChain, shop, watcherOf } from './setting.ts';

const never = new AbortController().signal;
const LOOKS = 10;

let chain: TestPaymentChain;
beforeAll(async () => {
  chain = await startPaymentChain();
});
afterAll(() => chain.stop());

async function begin() {
  const clock = manualClock(Date.now());
  const database = await sqliteDatabase();
  const node = await faultyNode(chain.rpcUrl);
  const watched = paymentChain(chain);
  const ours = await shop(database.options, clock, watched);
  const watcher = watcherOf({ chain: watched, rpcUrl: node.url, db: ours.db, clock });
  return {
    ...ours,
    clock,
    /** The calls of one look, 3 s after the one before. */
    async look(): Promise<string[]> {
      const before = node.calls.length;
      clock.advance(3_000);
      await watcher.runOnce(never);
      return node.calls.slice(before);
    },
    async [Symbol.asyncDispose]() {
      await node[Symbol.asyncDispose]();
      await ours.close();
      await database.remove();
    },
  };
}

type Watched = Awaited<ReturnType<typeof begin>>;

/** The most calls of a look, of several that each see a block more than the one before. */
async function mostCalls(ours: Watched, { blocks = 1 } = {}): Promise<number> {
  for (let index = 0; index < 3; index++) {
    await chain.mine(blocks);
    await ours.look();
  }
  const counts: number[] = [];
  for (let index = 0; index < LOOKS; index++) {
    await chain.mine(blocks);
    counts.push((await ours.look()).length);
  }
  return Math.max(...counts);
}

test('a look with nothing open makes at most three calls, and one when the chain stands still', async () => {
  await using unused = await begin();
  await using ours = await begin();
  const { id, amountDue } = await ours.open();
  await chain.pay({ from: 1, to: ours.recipient, amount: amountDue });
  await chain.mine(BLOCKS_TO_SETTLE);
  await ours.look();
  const { status } = await ours.session(id);
  // Beyond the blocks in which its payment is looked at again.
  await chain.mine(80);

  const neverOpened = await mostCalls(unused);
  const completed = await mostCalls(ours);
  await ours.look();
  const still = await ours.look();

  expect(status).toBe('completed');
  expect(neverOpened).toBeLessThanOrEqual(3);
  expect(completed).toBeLessThanOrEqual(3);
  expect(still).toEqual(['eth_getBlockByNumber']);
});

test('a look with ten sessions open, for tokens and for coins, makes at most ten calls', async () => {
  await using ours = await begin();
  for (let index = 0; index < 10; index++) {
    await ours.open(index % 2 === 0 ? {} : { tokenAddress: NATIVE_COIN });
  }

  const following = await mostCalls(ours);
  const several = await mostCalls(ours, { blocks: 4 });

  expect(following).toBeLessThanOrEqual(10);
  expect(several).toBeLessThanOrEqual(10);
});
