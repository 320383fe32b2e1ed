import { expect, test } from 'vitest';
import { openDatabase } from '#db/open.ts';
import { rowsOf } from '#db/query.ts';
import { systemClock } from '#lib/clock.ts';
import { createChainClient } from '#node/client.ts';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import { cursorStore } from '#payments/store/cursor-store.ts';
import { startChainWatcher } from '#payments/watcher/running-watcher.ts';
import { faultyNode } from '../../lab/faulty-node.ts';
import { startPaymentChain, type TestPaymentChain } from '../../lab/payment-chain.ts';
import { PATIENCE_MS, until } from '../../lab/until.ts';
import { eachDatabase } from '../../support/databases.ts';
import { log, paymentChain, seals, shop } from './setting.ts';

/** Long enough that a busy machine renews it in time. */
const LEASE_MS = 2_000;
const ANSWER_MS = 350;
/** Number of blocks that take a round longer than a lease to read. */
const BLOCKS = 100;

/** The nodes to read blocks from, and the last block to read. */
interface Reading {
  readonly chain: TestPaymentChain;
  readonly rpcUrls: string[];
  readonly timeoutMs: number;
  readonly target: number;
}

eachDatabase('watchers of one chain', databases => {
  /**
   * Runs several watchers on one database, each with its own connection, until they have read the `BLOCKS` blocks up to
   * `target`, for tokens and for coins.
   */
  async function reading(count: number, { chain, rpcUrls, timeoutMs, target }: Reading) {
    const watched = paymentChain(chain);
    const options = await databases.create('payments');
    const ours = await shop(options, systemClock, watched);
    await ours.open({ tokenAddress: NATIVE_COIN });
    await cursorStore(ours.db).set(chain.chainId, {
      blockNumber: target - BLOCKS,
      scannedAt: 0,
      headTime: undefined,
    });
    const dbs = Array.from({ length: count }, () => openDatabase(options));
    const watchers = dbs.map(db => {
      const client = createChainClient({ id: chain.chainId, rpcUrls, timeoutMs, log });
      const clock = systemClock;
      return startChainWatcher({
        chain: watched,
        client,
        db,
        seals,
        clock,
        log,
        leaseMs: LEASE_MS,
        pauseMs: 50,
      });
    });
    const leaders = new Set<string>();
    const isRead = await until(
      async () => {
        for (const { holder } of await rowsOf<{ holder: string }>(ours.db, 'select holder from leases', [])) {
          leaders.add(holder);
        }
        const cursor = await cursorStore(ours.db).find(chain.chainId);
        return cursor?.blockNumber === target && cursor.coinsBlock === undefined;
      },
      isThere => isThere,
    );
    await Promise.all(watchers.map(one => one.stop()));
    await Promise.all(dbs.map(db => db.destroy()));
    await ours.close();
    return { isRead, takeovers: leaders.size - 1 };
  }

  test('several watchers of a slow node read each block as often as one, and none takes over', async () => {
    await using chain = await startPaymentChain({ clock: systemClock });
    await chain.mine(BLOCKS);
    const target = await chain.head();
    const readingSlowly = async (count: number) => {
      await using node = await faultyNode(chain.rpcUrl);
      node.slow(ANSWER_MS);
      let blocks = 0;
      node.tell(({ method, params }) => {
        if (method === 'eth_getBlockByNumber' && params?.[1] === true) blocks += 1;
        return undefined;
      });
      const startedAt = performance.now();
      const through = { chain, rpcUrls: [node.url], timeoutMs: PATIENCE_MS, target };
      return { ...(await reading(count, through)), blocks, elapsedMs: performance.now() - startedAt };
    };

    const all = await Promise.all([1, 2, 3].map(readingSlowly));

    expect(all.map(({ isRead, takeovers }) => ({ isRead, takeovers }))).toEqual(
      all.map(() => ({ isRead: true, takeovers: 0 })),
    );
    expect(all[0]?.elapsedMs).toBeGreaterThan(LEASE_MS);
    expect(all.map(({ blocks }) => blocks)).toEqual(all.map(() => all[0]?.blocks));
  });

  test('a first node that hangs is asked once, and blocks are read from the second one', async () => {
    await using chain = await startPaymentChain({ clock: systemClock });
    await using hanging = await faultyNode(chain.rpcUrl);
    hanging.slow(Number.POSITIVE_INFINITY);
    await using node = await faultyNode(chain.rpcUrl);
    await chain.mine(BLOCKS);

    const { isRead, takeovers } = await reading(2, {
      chain,
      rpcUrls: [hanging.url, node.url],
      timeoutMs: LEASE_MS + 500,
      target: await chain.head(),
    });

    expect({ isRead, takeovers, requests: hanging.requests }).toEqual({
      isRead: true,
      takeovers: 0,
      requests: 1,
    });
  });
});
