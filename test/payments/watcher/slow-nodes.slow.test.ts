import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openDatabase } from '#db/open.ts';
import { rowsOf } from '#db/query.ts';
import { systemClock } from '#lib/clock.ts';
import { createChainClient } from '#node/client.ts';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import { cursorStore } from '#payments/store/cursor-store.ts';
import { startChainWatcher } from '#payments/watcher/running-watcher.ts';
import { eachDatabase } from '../../support/databases.ts';
import { type FaultyNode, faultyNode } from '../../support/faulty-node.ts';
import { startPaymentChain, type TestPaymentChain } from '../../support/payment-chain.ts';
import { log, paymentChain, seals, shop } from './setting.ts';

/** Long enough that a busy machine renews it in time. */
const LEASE_MS = 2_000;
const ANSWER_MS = 350;
/** Number of blocks that take a round longer than a lease to read. */
const BLOCKS = 100;
const PATIENCE_MS = 60_000;

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
   * `target`.
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
    const startedAt = performance.now();
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
    let isRead = false;
    while (!isRead && performance.now() - startedAt < PATIENCE_MS) {
      for (const { holder } of await rowsOf<{ holder: string }>(ours.db, 'select holder from leases', [])) {
        leaders.add(holder);
      }
      isRead = (await cursorStore(ours.db).find(chain.chainId))?.blockNumber === target;
      await delay(20);
    }
    const elapsedMs = performance.now() - startedAt;
    await Promise.all(watchers.map(one => one.stop()));
    await Promise.all(dbs.map(db => db.destroy()));
    await ours.close();
    return { isRead, elapsedMs, takeovers: leaders.size - 1 };
  }

  async function slowNode(chain: TestPaymentChain): Promise<FaultyNode> {
    const node = await faultyNode(chain.rpcUrl);
    node.slow(ANSWER_MS);
    return node;
  }

  test('several watchers read a slow node as fast as one, and none takes over', async () => {
    await using chain = await startPaymentChain({ clock: systemClock });
    await using node = await slowNode(chain);
    await chain.mine(BLOCKS);
    const through = { chain, rpcUrls: [node.url], timeoutMs: 5_000, target: await chain.head() };

    const [one, two, three] = await Promise.all([
      reading(1, through),
      reading(2, through),
      reading(3, through),
    ]);

    expect([one, two, three].map(({ isRead, takeovers }) => ({ isRead, takeovers }))).toEqual(
      Array.from({ length: 3 }, () => ({ isRead: true, takeovers: 0 })),
    );
    expect(one.elapsedMs).toBeGreaterThan(LEASE_MS);
    expect(two.elapsedMs).toBeLessThan(1.5 * one.elapsedMs);
    expect(three.elapsedMs).toBeLessThan(1.5 * one.elapsedMs);
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
