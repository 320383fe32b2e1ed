import { beforeEach, expect } from 'vitest';
import { leadership } from '#db/leader.ts';
import { watcherName } from '#payments/model/payment-chain.ts';
import { until } from '../../lab/until.ts';
import { eachDatabase } from '../../support/databases.ts';
import { chainTest as test, type WatchedShop, watchedShop } from './watched-shop.ts';

const IDLE_MS = 10_000;

eachDatabase(
  'the pause of a watcher that listens for new sessions',
  databases => {
    let ours: WatchedShop;
    beforeEach<{ chain: Parameters<typeof watchedShop>[0] }>(async ({ chain }) => {
      ours = await watchedShop(chain, { database: await databases.create('payments') });
      // The connection listens, but no announcement reaches the watcher.
      ours.db.wakeups.on('anything', () => undefined);
      await until(async () => ours.db.wakeups.isListening(), Boolean);
      return () => ours[Symbol.asyncDispose]();
    });

    test('is long while no session is open', async () => {
      await ours.look();

      expect(ours.watcher.pauseMs()).toBe(IDLE_MS);
    });

    test('is short again after a round that finds an open session, even when its announcement was lost', async () => {
      await ours.look();
      await ours.open();

      await ours.round();

      expect(ours.watcher.pauseMs()).toBeLessThan(IDLE_MS);
    });

    test('is short once the watcher becomes the leader of a chain with an open session', async ({
      chain,
    }) => {
      const killed = leadership(ours.db, {
        name: watcherName(chain.chainId),
        leaseMs: 15_000,
        clock: ours.clock,
      });
      await killed.hold();
      await ours.open();
      await ours.look();
      const standingBy = ours.watcher.pauseMs();

      ours.clock.advance(16_000);
      await ours.look();

      expect(standingBy).toBe(IDLE_MS);
      expect(ours.watcher.pauseMs()).toBeLessThan(IDLE_MS);
    });

    test('needs no renewal of the lease unless the next round is late', async () => {
      await ours.look();
      let renewals = 0;
      ours.db.on('query', ({ sql }: { sql: string }) => {
        if (sql.startsWith('update leases')) renewals += 1;
      });

      ours.clock.advance(ours.watcher.pauseMs() + 2_000);
      await ours.watcher.renew();
      const inTime = renewals;
      ours.clock.advance(2_000);
      await ours.watcher.renew();

      expect([inTime, renewals]).toEqual([0, 1]);
    });

    test('is short when a session is announced while the database answers that none is open', async () => {
      await ours.look();
      const announce = ({ sql }: { sql: string }) => {
        if (sql.includes('checkout_sessions')) ours.watcher.wake();
      };
      // Raised when the answer has arrived, before the watcher reads it.
      ours.db.on('query-response', (_: unknown, query: { sql: string }) => announce(query));

      await ours.round();

      expect(ours.watcher.pauseMs()).toBeLessThan(IDLE_MS);
    });
  },
  ['postgres'],
);
