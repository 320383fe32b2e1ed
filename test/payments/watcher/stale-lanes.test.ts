import { expect } from 'vitest';
import { transaction } from '#db/transaction.ts';
import { settlement } from '#payments/settlement/settlement.ts';
import { transferStore } from '#payments/store/transfer-store.ts';
import { NOT_FOUND_MS } from '#payments/watcher/look/claim-follower.ts';
import type { FaultyNode } from '../../lab/faulty-node.ts';
import { allDue } from '../../lab/payments-records.ts';
import { BLOCKS_TO_SETTLE, paymentChain, seals, watcherOf } from './setting.ts';
import { eachWatchedShop, never, type ShopBehindNodes } from './watched-shop.ts';

const HOUR_MS = 3_600_000;
const RECEIPT = 'eth_getTransactionReceipt';

/*
 * Work in the background judges by answers that may be out of date when it changes something: meanwhile a later look may
 * have found the payment in another block.
 */

eachWatchedShop('work that ends after a later look', test => {
  test('does not fail a claim as not found that a later look has found in a block', async ({
    chain,
    behindNodes,
  }) => {
    await using ours = await behindNodes();
    const steps: string[] = [];
    const watcher = watcherOn(ours, chain, steps);
    const session = await ours.boundSession({ expiresAt: ours.clock.now() + 2 * HOUR_MS });
    const { hash } = await ours.payment(session.amountDue);
    await ours.claim(session.id, hash);
    ours.node.tell(({ method }) => (method === 'eth_getTransactionByHash' ? null : undefined));
    await watcher.runOnce(never);
    ours.clock.advance(NOT_FOUND_MS + 60_000);

    const { look, release } = await held(ours, watcher);
    await look;
    ours.node.tell(undefined);
    await chain.mine(1);
    ours.clock.advance(3_000);
    await watcher.runOnce(never);
    release();
    await expect.poll(() => steps).toContain('after claims');

    expect(await ours.payments(session.id)).toMatchObject([{ status: 'confirming', txHash: hash }]);
    await chain.mine(BLOCKS_TO_SETTLE);
    ours.clock.advance(3_000);
    await watcher.runOnce(never);
    expect(await ours.events()).toEqual(['payment.completed', 'checkout.completed']);
  });

  test('keeps no transfer as unmatched that was recorded as a payment meanwhile', async ({ chain, ours }) => {
    const { db, clock } = ours;
    const session = await ours.open();
    const { hash } = await ours.payment(session.amountDue + 77n);
    await chain.mine(1);
    await ours.round();
    const [transfer, ...others] = await transferStore(db).unconfirmed(allDue(chain.chainId));
    if (transfer === undefined) throw new Error('the transfer is not recorded');
    await transferStore(db).remove([transfer]);
    const by = { matchedBy: 'wallet', confirmations: 0 } as const;
    const payMeanwhile = (step: string) =>
      step === 'before record'
        ? transaction(db, handle =>
            settlement({ handle, seals, now: clock.now() }).recordTransfer(session, transfer, by),
          ).then(() => {})
        : undefined;
    await ours.watcher.resign();
    const rpcUrls = [chain.rpcUrl];
    const watcher = watcherOf({ chain: paymentChain(chain), rpcUrls, db, clock, fault: payMeanwhile });
    clock.advance(3_000);

    await watcher.runOnce(never);

    expect(others).toEqual([]);
    expect(await ours.payments(session.id)).toMatchObject([{ status: 'confirming', txHash: hash }]);
    expect(await transferStore(db).unconfirmed(allDue(chain.chainId))).toEqual([]);
  });
});

type Watcher = ReturnType<typeof watcherOf>;

function watcherOn(
  { db, clock, node }: ShopBehindNodes,
  chain: Parameters<typeof paymentChain>[0],
  steps: string[],
): Watcher {
  const fault = (step: string) => void steps.push(step);
  return watcherOf({ chain: paymentChain(chain), rpcUrls: [node.url], db, clock, fault });
}

/** Runs a look whose receipts are answered at once, but arrive only after `release`. */
async function held({ node, clock }: ShopBehindNodes, watcher: Watcher) {
  const asked = receiptsOf(node);
  const release = node.hold(({ method }) => method === RECEIPT);
  const looking = watcher.runOnce(never);
  await expect.poll(() => receiptsOf(node)).toBeGreaterThan(asked);
  clock.advance(1_000);
  return { look: looking, release };
}

function receiptsOf({ calls }: FaultyNode): number {
  return calls.filter(method => method === RECEIPT).length;
}
