import { expect, test } from 'vitest';
import { type ChainStatus, chainStatusBody, chainStatuses } from '../../src/payments/chain-status.ts';
import type { ChainWatcher } from '../../src/payments/watcher/chain-watcher.ts';
import { sqliteDatabase } from '../support/databases.ts';
import { manualClock } from '../support/manual-clock.ts';
import { startPaymentChain } from '../support/payment-chain.ts';
import { paymentChain, shop, watcherOf } from './watcher/setting.ts';

const never = new AbortController().signal;

test('head and node are shown by the process that watches the chain, and by no other from its next look', async () => {
  const node = await startPaymentChain();
  const chain = paymentChain(node);
  const clock = manualClock(Date.now());
  const database = await sqliteDatabase('payments');
  const { db, close } = await shop(database.options, clock, chain);
  const watcher = () => watcherOf({ chain, rpcUrls: [node.rpcUrl], db, clock });
  const [first, second] = [watcher(), watcher()];
  const shownBy = async ({ status }: ChainWatcher): Promise<ChainStatus | undefined> =>
    (await chainStatuses({ db, clock, watched: [{ chain, status }] }).all())[0];

  await first.runOnce(never);
  await node.mine();
  clock.advance(16_000); // longer than a lease
  await second.runOnce(never);
  await first.runOnce(never);
  const head = await node.head();

  const shownByFirst = await shownBy(first);
  expect(shownByFirst).toMatchObject({ headBlock: undefined, node: undefined, settledBlock: head });
  expect(shownByFirst && chainStatusBody(shownByFirst)).toMatchObject({
    head_block: null,
    scanned_block: head,
    settled_block: head,
  });
  expect(await shownBy(second)).toMatchObject({ headBlock: head, node: '127.0.0.1', settledBlock: head });
  await close();
  await database.remove();
  await node.stop();
});
