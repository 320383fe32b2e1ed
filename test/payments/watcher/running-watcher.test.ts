import { expect } from 'vitest';
import { rowsOf } from '#db/query.ts';
import { createChainClient } from '#node/client.ts';
import { startChainWatcher } from '#payments/watcher/running-watcher.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { log, paymentChain, seals } from './setting.ts';
import { eachWatchedShop } from './watched-shop.ts';

eachWatchedShop('a running watcher', test => {
  test('rests between its rounds and between the extensions of its lease, and leaves both when it stops', async ({
    chain,
    ours,
  }) => {
    const { db, clock } = ours;
    const client = createChainClient({
      id: chain.chainId,
      rpcUrls: [chain.rpcUrl],
      timeoutMs: PATIENCE_MS,
      log,
    });
    const leases = () => rowsOf(db, 'select name from leases where expires_at > ?', [clock.now()]);

    const running = startChainWatcher({ chain: paymentChain(chain), db, seals, clock, log, client });
    await expect.poll(clock.sleepers, { timeout: 10_000 }).toBe(2);
    const held = await leases();
    await running.stop();

    expect(held).toHaveLength(1);
    expect(await leases()).toEqual([]);
    expect(clock.sleepers()).toBe(0);
  });
});
