import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { LATE_CHAIN_MS } from '#payments/chain-status.ts';
import { type FaultyNode, faultyNode } from '../../lab/faulty-node.ts';
import { SHOP, startTestPayments, type TestPaymentsService } from '../../lab/payments-service.ts';
import { until } from '../../lab/until.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { paymentChain } from '../watcher/setting.ts';
import { test as checkout, status } from './paid-page.ts';

const SECOND_MS = 1_000;

const test = checkout
  .extend('clock', { scope: 'worker' }, (): ManualClock => manualClock(Date.now()))
  .extend('node', { scope: 'file' }, async ({ chain }, { onCleanup }): Promise<FaultyNode> => {
    const node = await faultyNode(chain.rpcUrl);
    onCleanup(() => node[Symbol.asyncDispose]());
    return node;
  })
  .extend(
    'service',
    { scope: 'file' },
    async ({ chain, database, clock, node }, { onCleanup }): Promise<TestPaymentsService> => {
      const watched = paymentChain(chain);
      const service = await startTestPayments(database, {
        clock,
        chains: [{ ...watched, rpcUrls: [node.url], isOfThisRun: false }],
        demo: { chainId: watched.id, tokenAddress: chain.token.toLowerCase(), recipientAddress: SHOP },
      });
      onCleanup(service.close);
      return service;
    },
  );

/** Advances time by seconds until the page's notice about the chain is as given. */
async function passUntil(
  isTold: boolean,
  { banner, clock }: { banner: ReturnType<Page['getByText']>; clock: ManualClock },
): Promise<number> {
  const count = () => {
    clock.advance(SECOND_MS);
    return banner.count();
  };
  return until(count, told => told > 0 === isTold);
}

test('an open page says that its chain is late while its node is down, and then removes the notice', async ({
  page,
  chain,
  clock,
  node,
  openCheckout,
}) => {
  const banner = page.getByText('Payments on Test chain are detected with a delay.');
  await openCheckout(page, { amount: '2500000' });
  await status(page, 'waiting').waitFor();
  const atFirst = await banner.count();

  node.tell(() => new Error('out of order'));
  clock.advance(LATE_CHAIN_MS);
  const whileOut = await passUntil(true, { banner, clock });
  const told = await page.locator('#status').textContent();
  node.tell(undefined);
  await chain.mine();
  const afterwards = await passUntil(false, { banner, clock });

  expect([atFirst, whileOut, afterwards]).toEqual([0, 1, 0]);
  expect(told).toContain('A payment that was sent is not lost: please do not send it again.');
});
