import type { Hex } from 'viem';
import { test as base } from 'vitest';
import type { DatabaseOptions } from '#db/open.ts';
import type { PaymentChain } from '#payments/model/payment-chain.ts';
import type { CheckoutSession } from '#payments/model/session.ts';
import type { SessionDraft } from '#payments/sessions/opening.ts';
import type { ChainWatcher } from '#payments/watcher/chain-watcher.ts';
import type { ProvenIndex } from '#payments/watcher/proofs/indexed-blocks.ts';
import { type FaultyNode, faultyNode } from '../../lab/faulty-node.ts';
import { startPaymentChain, type TestPaymentChain } from '../../lab/payment-chain.ts';
import { eachDatabase, type TestDatabases } from '../../support/databases.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { BLOCKS_TO_SETTLE, paymentChain, type Shop, shop, watcherOf } from './setting.ts';

/** Never aborts. */
export const never = new AbortController().signal;

/** A shop with its own database and a watcher of its chain. `await using` closes the database. */
export interface WatchedShop extends Shop, AsyncDisposable {
  readonly clock: ManualClock;
  readonly watcher: ChainWatcher;
  /** Sends a transfer to the pool; it can be sent again after a fork. */
  payment(amount: bigint): Promise<{ hash: Hex; raw: Hex }>;
  /** Opens a session that is bound to the wallet of `payment`. */
  boundSession(changes?: Partial<SessionDraft>): Promise<CheckoutSession>;
  /** Runs one round of the watcher. */
  look(): Promise<void>;
  /** Advances three seconds, after which the pool is read again, and runs one round. */
  round(): Promise<void>;
  /** Confirms and settles the transfers in the pool. */
  settle(): Promise<void>;
}

/** The database of a watched shop, with optional nodes and changes of `paymentChain`. */
interface WatchedShopOptions {
  readonly database: DatabaseOptions;
  readonly rpcUrls?: readonly string[];
  readonly changes?: Partial<PaymentChain> | undefined;
  /** Longest answer of a node that the watcher accepts; 64 MiB when absent. */
  readonly maxAnswerBytes?: number | undefined;
  /** True when nodes are left out, and asked last, in the time of the chain. */
  readonly ranksByClock?: boolean;
  /** Index of the chain; none when absent. */
  readonly index?: ProvenIndex | undefined;
}

/** Nodes of a shop: one when absent, at most two. */
interface NodeOptions extends Pick<WatchedShopOptions, 'maxAnswerBytes' | 'changes' | 'index'> {
  readonly nodes?: number;
}

/** A shop whose watcher reads the chain through nodes that can lie. */
export interface ShopBehindNodes extends WatchedShop {
  /** The node asked first. */
  readonly node: FaultyNode;
  /** The node asked when the first one fails. */
  readonly second: FaultyNode;
}

/** `test` with a chain that the tests of a file share. */
export const chainTest = chainTestOn({});
/** The same with a chain that logs coins from its first block on. */
export const coinLogsTest = chainTestOn({ engine: 'edr', hardfork: 'amsterdam' });

function chainTestOn(choice: Pick<Parameters<typeof startPaymentChain>[0], 'engine' | 'hardfork'>) {
  const start = async ({ onCleanup }: { onCleanup: (stop: () => Promise<void>) => void }) => {
    const chain: TestPaymentChain<ManualClock> = await startPaymentChain({
      clock: manualClock(Date.now()),
      ...choice,
    });
    onCleanup(chain.stop);
    return chain;
  };
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are used.
  return base.extend('chain', { scope: 'file' }, async ({}, context) => start(context));
}

/** `chainTest` with shops on one kind of database. */
export type WatchedShopTest = ReturnType<typeof watchedShopTest>;

/** Runs a suite with shops on SQLite, and in `npm run test:all` also with shops on PostgreSQL. */
export function eachWatchedShop(
  name: string,
  suite: (test: WatchedShopTest) => void,
  onChain = chainTest,
): void {
  eachDatabase(name, databases => suite(watchedShopTest(databases, onChain)));
}

function watchedShopTest(databases: TestDatabases, onChain: typeof chainTest) {
  return (
    onChain
      /** A shop whose watcher reads the chain directly. */
      .extend('ours', async ({ chain }, { onCleanup }): Promise<WatchedShop> => {
        const ours = await watchedShop(chain, { database: await databases.create('payments') });
        onCleanup(() => ours[Symbol.asyncDispose]());
        return ours;
      })
      /** Opens a shop whose watcher has one faulty node, or two. */
      .extend('behindNodes', ({ chain }) => async (options: NodeOptions = {}): Promise<ShopBehindNodes> => {
        const { nodes = 1, maxAnswerBytes, changes, index } = options;
        const [node, second] = [await faultyNode(chain.rpcUrl), await faultyNode(chain.rpcUrl)];
        const ours = await watchedShop(chain, {
          database: await databases.create('payments'),
          // By another host name, as those of two providers.
          rpcUrls: [node.url, second.url.replace('127.0.0.1', 'localhost')].slice(0, nodes),
          maxAnswerBytes,
          changes,
          index,
        });
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
      })
  );
}

/** Opens a shop in the time of its chain, on a migrated database, which it does not remove. */
export async function watchedShop(
  chain: TestPaymentChain<ManualClock>,
  { database, rpcUrls = [chain.rpcUrl], changes, ranksByClock = false, ...limits }: WatchedShopOptions,
): Promise<WatchedShop> {
  const { clock } = chain;
  const watched = { ...paymentChain(chain), ...changes };
  const ours = await shop(database, clock, watched);
  const watcher = watcherOf({
    chain: watched,
    rpcUrls,
    db: ours.db,
    clock,
    nodeClock: ranksByClock ? clock : undefined,
    ...limits,
  });
  const look = async () => void (await watcher.runOnce(never));
  return {
    ...ours,
    clock,
    watcher,
    look,
    async payment(amount) {
      const hash = await chain.pay({ from: 1, to: ours.recipient, amount });
      return { hash, raw: chain.rawOf(hash) };
    },
    async boundSession(changes) {
      const session = await ours.open(changes);
      await ours.bind(session.id, `${chain.accounts[1]}`);
      return session;
    },
    async round() {
      clock.advance(3_000);
      await look();
    },
    async settle() {
      clock.advance(5_000);
      await chain.mine(BLOCKS_TO_SETTLE);
      for (let count = 0; count < 3; count++) await look();
    },
    [Symbol.asyncDispose]: ours.close,
  };
}
