import { expect } from 'vitest';
import { openDatabase } from '#db/open.ts';
import { systemClock } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import { createChainClient } from '#node/client.ts';
import type { Failpoint } from '#payments/watcher/look/look.ts';
import { startChainWatcher } from '#payments/watcher/running-watcher.ts';
import { LookStandsStill } from '#payments/watcher/watch-lease.ts';
import { startPaymentChain } from '../../lab/payment-chain.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { bothDatabases } from '../../support/databases.ts';
import { floodingToken } from '../../support/flooding-token.ts';
import { insertOwner } from '../../support/given-database.ts';
import { listedTransfers } from '../../support/listed-transfers.ts';
import { BLOCKS_TO_SETTLE, paymentChain, seals, shop, watcherOf } from './setting.ts';
import { never, chainTest as test } from './watched-shop.ts';

const DUST = 1_000;
const FLOODS = 3;

bothDatabases('two watchers of one chain', databases => {
  test('neither take the lead from each other nor fail while dust arrives', async () => {
    await using chain = await startPaymentChain({ clock: systemClock });
    const options = await databases.create('payments');
    const watched = paymentChain(chain);
    const ours = await shop(options, systemClock, watched);
    const other = await ours.open({
      ...(await insertOwner(ours.db, 'test')),
      recipientAddress: `0x${'e1'.repeat(20)}`,
    });
    await ours.open();
    const complaints: string[] = [];
    const destination = { write: (line: string) => void complaints.push(line) };
    const log = createLogger({ level: 'warn', destination });
    const elected: number[] = [];
    const dbs = [openDatabase(options), openDatabase(options)];
    const watchers = dbs.map((db, index) =>
      startChainWatcher({
        ...{ chain: watched, db, seals, clock: systemClock, log, pauseMs: 20 },
        client: createChainClient({
          id: chain.chainId,
          rpcUrls: [chain.rpcUrl],
          timeoutMs: PATIENCE_MS,
          log,
        }),
        onElected: () => void elected.push(index),
      }),
    );
    await expect.poll(() => elected).toHaveLength(1);

    const flood = await floodingToken(chain);
    for (let sent = 0; sent < FLOODS; sent += 1) {
      await flood({ from: 1, to: ours.recipient, count: DUST, amount: 1n });
      await chain.mine(1);
    }
    await chain.pay({ from: 2, to: other.recipientAddress, amount: other.amountDue });
    await chain.mine(BLOCKS_TO_SETTLE);
    const listed = async () => (await listedTransfers(ours.db, ours.owner, {}, { page: 1, limit: 1 })).total;
    await expect.poll(listed).toBe(FLOODS * DUST);

    expect(await ours.session(other.id)).toMatchObject({ status: 'completed' });
    expect([elected.length, complaints]).toEqual([1, []]);
    await Promise.all(watchers.map(one => one.stop()));
    await Promise.all([...dbs, ours.db].map(db => db.destroy()));
  });

  test('the second one takes over when the look of the first does not move', async ({ chain }) => {
    const options = await databases.create('payments');
    const { clock } = chain;
    const ours = await shop(options, clock, paymentChain(chain));
    const secondDb = openDatabase(options);
    const stuck = Promise.withResolvers<void>();
    let isStuck = false;
    const hang: Failpoint = step => {
      if (step !== 'scan' || !isStuck) return undefined;
      return stuck.promise;
    };
    const shared = { chain: paymentChain(chain), rpcUrls: [chain.rpcUrl], clock };
    const first = watcherOf({ ...shared, db: ours.db, fault: hang });
    const second = watcherOf({ ...shared, db: secondDb });
    const { id, amountDue } = await ours.open();
    await first.runOnce(never);
    await chain.pay({ from: 1, to: ours.recipient, amount: amountDue });
    await chain.mine(BLOCKS_TO_SETTLE);
    isStuck = true;

    // The look ends without a result when it finds the lease lost, or fails when it asks its node before that.
    const looking = first.runOnce(never).catch((error: unknown) => error);
    await expect.poll(() => first.status().head).toBe(await chain.head());
    const whileExtended = await seconds(35);
    await expect(seconds(10)).rejects.toThrow('has not moved');
    await second.runOnce(never);
    const taken = await ours.session(id);
    stuck.resolve();
    const ended = await looking;

    expect([0, expect.any(LookStandsStill)]).toContainEqual(ended);
    expect(whileExtended).toBe('active');
    expect(taken.status).toBe('completed');
    expect(await ours.payments(id)).toHaveLength(1);
    await first.resign();
    await second.resign();
    await Promise.all([secondDb, ours.db].map(db => db.destroy()));

    /** Lets the first one extend its lease for some seconds while the second one tries to lead. */
    async function seconds(count: number): Promise<string> {
      for (let passed = 0; passed < count; passed += 5) {
        clock.advance(5_000);
        await first.renew();
        await second.runOnce(never);
      }
      return (await ours.session(id)).status;
    }
  });
});
