import { expect, test } from 'vitest';
import { systemClock } from '#lib/clock.ts';
import { createChainClient } from '#node/client.ts';
import { startChainWatcher } from '#payments/watcher/running-watcher.ts';
import { startPaymentChain } from '../../lab/payment-chain.ts';
import { PATIENCE_MS, until } from '../../lab/until.ts';
import { eachDatabase, type TestDatabases } from '../../support/databases.ts';
import { BLOCKS_TO_SETTLE, log, paymentChain, seals, shop } from './setting.ts';

const PAYMENTS = 500;
/** Wallets that pay at the same time. */
const PAYERS = 10;

eachDatabase('many payments', suite);

function suite(databases: TestDatabases): void {
  test('500 transfers in one block pay their 500 sessions', async () => {
    await using chain = await startPaymentChain({ clock: systemClock });

    const watched = paymentChain(chain);
    const ours = await shop(await databases.create('payments'), systemClock, watched);
    const client = createChainClient({
      id: chain.chainId,
      rpcUrls: [chain.rpcUrl],
      timeoutMs: PATIENCE_MS,
      log,
    });
    const watcher = startChainWatcher({
      chain: watched,
      client,
      db: ours.db,
      seals,
      clock: systemClock,
      log,
    });
    for (let count = 0; count < PAYMENTS; count += PAYERS) {
      await Promise.all(
        Array.from({ length: PAYERS }, async (_, payer) => {
          const { amountDue } = await ours.open();
          await chain.pay({ from: 1 + payer, to: ours.recipient, amount: amountDue });
        }),
      );
    }
    const first = (await chain.head()) + 1;
    await chain.mine(BLOCKS_TO_SETTLE - 1);
    const inBlock = await chain.call('eth_getBlockTransactionCountByNumber', `0x${first.toString(16)}`);
    const seen = await until(
      async () => {
        await watcher.runOnce();
        return ours.db.from('transactions').where({ status: 'confirming' }).count({ count: '*' });
      },
      ([row]) => Number(row?.count) === PAYMENTS,
    );
    await chain.mine(1);
    const settled = await until(
      async () => {
        await watcher.runOnce();
        return ours.db.from('checkout_sessions').where({ status: 'completed' }).count({ count: '*' });
      },
      ([row]) => Number(row?.count) === PAYMENTS,
    );
    await watcher.stop();
    await ours.close();

    expect(Number(inBlock)).toBe(PAYMENTS);
    expect(Number(seen[0]?.count)).toBe(PAYMENTS);
    expect(Number(settled[0]?.count)).toBe(PAYMENTS);
  });
}
