import { expect } from 'vitest';
import { WrongChain } from '#node/transport/errors.ts';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import { cursorStore } from '#payments/store/cursor-store.ts';
import { CLAIMS_PER_LOOK } from '#payments/watcher/look/claim-follower.ts';
import { startPaymentChain } from '../../lab/payment-chain.ts';
import { floodingToken } from '../../support/flooding-token.ts';
import { BLOCKS_TO_SETTLE } from './setting.ts';
import { eachWatchedShop } from './watched-shop.ts';

const LOOKS = 10;

interface Looking {
  look(): Promise<string[]>;
}

eachWatchedShop('calls of the node', watchedTest => {
  const test = watchedTest
    /** Opens a shop that counts the calls of its watcher. */
    .extend('begin', ({ chain, behindNodes }) => async () => {
      const ours = await behindNodes();
      return {
        ...ours,
        cursor: () => cursorStore(ours.db).find(chain.chainId),
        /** The calls of one round, 3 s after the previous one. */
        async look(): Promise<string[]> {
          const before = ours.node.calls.length;
          await ours.round();
          return ours.node.calls.slice(before);
        },
      };
    })
    /** Returns the most calls of a round, over several rounds with new blocks before each. */
    .extend('mostCalls', ({ chain }) => async (ours: Looking, { blocks = 1 } = {}) => {
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
    });

  test('a round without open sessions makes at most three calls, and one when there is no new block', async ({
    chain,
    begin,
    mostCalls,
  }) => {
    await using unused = await begin();
    await using ours = await begin();
    const { id, amountDue } = await ours.open();
    await chain.pay({ from: 1, to: ours.recipient, amount: amountDue });
    await chain.mine(BLOCKS_TO_SETTLE);
    await ours.look();
    const { status } = await ours.session(id);
    // Past the blocks in which the settled payment is checked again.
    await chain.mine(80);

    const neverOpened = await mostCalls(unused);
    const completed = await mostCalls(ours);
    const severalBlocks = await mostCalls(ours, { blocks: 4 });
    await ours.look();
    const still = await ours.look();

    expect(status).toBe('completed');
    expect(neverOpened).toBeLessThanOrEqual(3);
    expect(completed).toBeLessThanOrEqual(3);
    expect(severalBlocks).toBeLessThanOrEqual(3);
    expect(still).toEqual(['eth_getBlockByNumber']);
  });

  test('a flood that is recorded in many parts does not ask the node for its chain before each', async ({
    chain,
    begin,
  }) => {
    const flood = await floodingToken(chain);
    await using ours = await begin();
    await ours.open();
    await ours.look();
    await flood({ from: 1, to: ours.recipient, count: 1_000, amount: 1n });
    await chain.mine(1);

    const calls = await ours.look();

    expect(await ours.db.from('unmatched_transfers').count({ total: '*' })).toEqual([{ total: 1_000 }]);
    expect(calls.filter(one => one === 'eth_chainId').length).toBeLessThanOrEqual(2);
  });

  test('with no open session on a fast chain, a late payment is settled and blocks of another chain are refused', async ({
    chain,
    begin,
    mostCalls,
  }) => {
    await using ours = await begin();
    await using other = await startPaymentChain({ clock: chain.clock, chainId: 31_338 });
    await other.mine((await chain.head()) + 40);
    const { id, amountDue } = await ours.open();
    await ours.look();
    await ours.expire(id);
    await mostCalls(ours, { blocks: 4 });

    await chain.pay({ from: 1, to: ours.recipient, amount: amountDue });
    for (let index = 0; index < 3; index++) {
      await chain.mine(BLOCKS_TO_SETTLE);
      await ours.look();
    }
    const payments = await ours.payments(id);
    const cursor = await ours.cursor();
    ours.node.pointAt(other.rpcUrl);
    const swapped = await ours.look().catch((error: unknown) => error);

    expect(payments).toMatchObject([{ status: 'completed', isLate: true }]);
    expect(swapped).toBeInstanceOf(WrongChain);
    expect(await ours.cursor()).toEqual(cursor);
  });

  test('with no open session, a node that switches to another chain is refused within two rounds', async ({
    chain,
    begin,
    mostCalls,
  }) => {
    await using other = await startPaymentChain({ clock: chain.clock, chainId: 31_339 });
    await other.mine((await chain.head()) + 40);
    const refusalAfter = async (prepare: (ours: Looking) => Promise<unknown>) => {
      await using ours = await begin();
      await mostCalls(ours);
      await prepare(ours);
      const cursor = await ours.cursor();
      ours.node.pointAt(other.rpcUrl);
      const first = await ours.look().catch((error: unknown) => error);
      await other.mine(1);
      const second = await ours.look().catch((error: unknown) => error);
      return {
        refusals: [first, second],
        isUnmoved: (await ours.cursor())?.blockNumber === cursor?.blockNumber,
      };
    };

    const afterNewBlock = await refusalAfter(async () => {});
    const afterSameBlock = await refusalAfter(ours => ours.look());

    for (const { refusals, isUnmoved } of [afterNewBlock, afterSameBlock]) {
      expect(refusals).toContainEqual(expect.any(WrongChain));
      expect(isUnmoved).toBe(true);
    }
  });

  test('with an unmatched transfer that awaits confirmations, a round reads the logs only once', async ({
    chain,
    begin,
    mostCalls,
  }) => {
    await using ours = await begin();
    await ours.expire((await ours.open()).id);
    await mostCalls(ours, { blocks: BLOCKS_TO_SETTLE + 1 });

    const reads: number[] = [];
    for (let index = 0; index < 4; index++) {
      await chain.mine(BLOCKS_TO_SETTLE);
      await chain.pay({ from: 1, to: ours.recipient, amount: 1n });
      await chain.mine(1);
      reads.push((await ours.look()).filter(one => one === 'eth_getLogs').length);
    }

    expect(reads).toEqual([1, 1, 1, 1]);
  });

  test('a round with ten open sessions, in tokens and coins, makes at most ten calls, and one more for each block to trace', async ({
    begin,
    mostCalls,
  }) => {
    await using ours = await begin();
    for (let index = 0; index < 10; index++) {
      await ours.open(index % 2 === 0 ? {} : { tokenAddress: NATIVE_COIN });
    }
    // The blocks that are older than the sessions are traced once.
    for (let count = 0; count < 4; count++) await ours.look();

    const following = await mostCalls(ours);
    const several = await mostCalls(ours, { blocks: 4 });

    expect(following).toBeLessThanOrEqual(10);
    // Traces take one call for each block, and one more for a block with transactions.
    expect(several).toBeLessThanOrEqual(14);
  });

  test('a flood of claims costs a bounded number of calls, fewer with age, and a real claim is looked up next', async ({
    chain,
    begin,
  }) => {
    await using ours = await begin();
    const stranger = `${chain.accounts[2]}`;
    for (let index = 0; index < 60; index++) {
      const { id } = await ours.open({ expiresAt: ours.clock.now() + 86_400_000 });
      await ours.bind(id, stranger);
      for (let claim = 0; claim < 5; claim++) await ours.claim(id, hashOf(index * 10 + claim));
    }
    const lookUps = async () => (await ours.look()).filter(one => one === 'eth_getTransactionByHash').length;
    const first = [await lookUps(), await lookUps()];

    const session = await ours.open();
    await ours.bind(session.id, `${chain.accounts[1]}`);
    const reverting = await chain.pay({ from: 1, to: ours.recipient, amount: 10n ** 18n });
    await chain.mine(1);
    await ours.claim(session.id, reverting);
    await ours.look();
    const payments = await ours.payments(session.id);

    let early = 0;
    for (let index = 0; index < 40; index++) early += await lookUps();
    ours.clock.advance(20 * 60_000);
    for (let index = 0; index < 20; index++) await lookUps();
    let late = 0;
    for (let index = 0; index < 40; index++) late += await lookUps();

    expect(Math.max(...first)).toBe(CLAIMS_PER_LOOK);
    expect(payments).toMatchObject([{ status: 'failed', failureReason: 'reverted' }]);
    expect(early).toBeLessThanOrEqual(40 * CLAIMS_PER_LOOK);
    expect(late).toBeLessThan(0.75 * early);
  });
});

/** The hash of a transaction that does not exist. */
function hashOf(index: number): string {
  return `0x${(index + 1).toString(16).padStart(64, '0')}`;
}
