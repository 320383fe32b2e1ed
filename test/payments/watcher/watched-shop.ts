import { test as base } from 'vitest';
import type { ChainWatcher } from '#payments/watcher/chain-watcher.ts';
import { sqliteDatabase } from '../../support/databases.ts';
import { type FaultyNode, faultyNode } from '../../support/faulty-node.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { addressOf, startPaymentChain, type TestPaymentChain } from '../../support/payment-chain.ts';
import { paymentChain, type Shop, shop, watcherOf } from './setting.ts';

/** Never aborts. */
export const never = new AbortController().signal;

/** A shop on an SQLite database of its own, and a watcher of its chain. `await using` ends both. */
export interface WatchedShop extends Shop, AsyncDisposable {
  readonly clock: ManualClock;
  readonly watcher: ChainWatcher;
  /** Lets three seconds pass, after which the pool is read again, and looks at the chain once. */
  round(): Promise<void>;
}

/** A shop whose watcher reads the chain through nodes that can lie. */
export interface ShopBehindNodes extends WatchedShop {
  /** The node that is asked first. */
  readonly node: FaultyNode;
  /** The node that is asked when the first one fails. */
  readonly second: FaultyNode;
}

/** `test` with a chain that the tests of a file share, and a watched shop per test. */
export const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are used.
  .extend('chain', { scope: 'file' }, async ({}, { onCleanup }): Promise<TestPaymentChain> => {
    const chain = await startPaymentChain();
    onCleanup(chain.stop);
    return chain;
  })
  .extend('ours', async ({ chain }, { onCleanup }): Promise<WatchedShop> => {
    const ours = await watchedShop(chain, [chain.rpcUrl]);
    onCleanup(() => ours[Symbol.asyncDispose]());
    return ours;
  })
  .extend('clock', ({ ours }): ManualClock => ours.clock)
  .extend('watcher', ({ ours }): ChainWatcher => ours.watcher)
  .extend('round', ({ ours }): (() => Promise<void>) => ours.round)
  /** Sends a transfer into the pool that can be sent again after a fork. */
  .extend('payment', ({ chain, ours }) => async (amount: bigint) => {
    const hash = await chain.pay({ from: 1, to: ours.recipient, amount });
    const raw = addressOf(`${await chain.call('eth_getRawTransactionByHash', hash)}`);
    return { hash, raw };
  });

/** Opens a shop whose watcher has one faulty node, or two. */
export async function shopBehindNodes(chain: TestPaymentChain, { nodes = 1 } = {}): Promise<ShopBehindNodes> {
  const [node, second] = [await faultyNode(chain.rpcUrl), await faultyNode(chain.rpcUrl)];
  const ours = await watchedShop(chain, [node.url, second.url].slice(0, nodes));
  return {
    ...ours,
    node,
    second,
    async [Symbol.asyncDispose]() {
      await node[Symbol.asyncDispose]();
      await second[Symbol.asyncDispose]();
      await ours[Symbol.asyncDispose]();
    },
  };
}

async function watchedShop(chain: TestPaymentChain, rpcUrls: readonly string[]): Promise<WatchedShop> {
  const clock = manualClock(Date.now());
  const database = await sqliteDatabase('payments');
  const watched = paymentChain(chain);
  const ours = await shop(database.options, clock, watched);
  const watcher = watcherOf({ chain: watched, rpcUrls, db: ours.db, clock });
  return {
    ...ours,
    clock,
    watcher,
    async round() {
      clock.advance(3_000);
      await watcher.runOnce(never);
    },
    async [Symbol.asyncDispose]() {
      await ours.close();
      await database.remove();
    },
  };
}
