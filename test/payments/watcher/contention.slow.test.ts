import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { rowsOf } from '#db/query.ts';
import { systemClock } from '#lib/clock.ts';
import { createChainClient } from '#node/client.ts';
import { startChainWatcher } from '#payments/watcher/running-watcher.ts';
import { startPaymentChain } from '../../lab/payment-chain.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { bothDatabases } from '../../support/databases.ts';
import { BLOCKS_TO_SETTLE, log, paymentChain, seals, shop } from './setting.ts';

const PAYMENTS = 60;
/** Rest between two writes. A change of all sessions takes much longer, a change of one does not. */
const PAUSE_MS = 2;

bothDatabases('a backlog of payments', databases => {
  test('is settled while other processes write the same sessions all the time', async () => {
    await using chain = await startPaymentChain({ clock: systemClock });
    const watched = paymentChain(chain);
    const ours = await shop(await databases.create('payments'), systemClock, watched);
    const client = createChainClient({
      id: chain.chainId,
      rpcUrls: [chain.rpcUrl],
      timeoutMs: PATIENCE_MS,
      log,
    });
    const ids: string[] = [];
    for (let count = 0; count < PAYMENTS; count += 1) {
      const { id, amountDue } = await ours.open();
      ids.push(id);
      await chain.pay({ from: 1 + (count % 10), to: ours.recipient, amount: amountDue });
    }
    await chain.mine(BLOCKS_TO_SETTLE);
    let isSelling = true;
    const selling = (async () => {
      for (let turn = 0; isSelling; turn += 1) {
        const sql = 'update checkout_sessions set updated_at = updated_at where id = ?';
        await ours.db.raw(sql, [ids[(turn * 7) % PAYMENTS] ?? '']);
        await delay(PAUSE_MS);
      }
    })();
    const watcher = startChainWatcher({
      chain: watched,
      client,
      db: ours.db,
      seals,
      clock: systemClock,
      log,
    });
    const completed = () =>
      rowsOf(ours.db, "select id from checkout_sessions where status = 'completed'", []);

    try {
      await expect.poll(completed).toHaveLength(PAYMENTS);
    } finally {
      isSelling = false;
      await selling;
      await watcher.stop();
      await ours.close();
    }
  });
});
