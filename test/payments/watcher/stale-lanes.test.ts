import { expect } from 'vitest';
import { NOT_FOUND_MS } from '#payments/watcher/look/payment-hints.ts';
import type { FaultyNode } from '../../support/faulty-node.ts';
import { BLOCKS_TO_SETTLE, paymentChain, watcherOf } from './setting.ts';
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
