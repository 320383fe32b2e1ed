import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LATE_MS } from '#payments/chain-status.ts';
import { launchBrowser } from '../../support/browser.ts';
import { sqliteDatabase } from '../../support/databases.ts';
import { type FaultyNode, faultyNode } from '../../support/faulty-node.ts';
import { record, text } from '../../support/json.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { startPaymentChain, type TestPaymentChain } from '../../support/payment-chain.ts';
import { startTestPayments, type TestPaymentsService } from '../../support/payments-service.ts';
import { until } from '../../support/until.ts';
import { paymentChain } from '../watcher/setting.ts';

const SHOP = `0x${'5e'.repeat(20)}`;
const SECOND_MS = 1_000;

let clock: ManualClock;
let chain: TestPaymentChain;
let node: FaultyNode;
let service: TestPaymentsService;
let browser: Browser;
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  clock = manualClock(Date.now());
  chain = stack.use(await startPaymentChain());
  node = stack.use(await faultyNode(chain.rpcUrl));
  const database = await sqliteDatabase('payments');
  stack.defer(database.remove);
  const watched = paymentChain(chain);
  service = stack.use(
    await startTestPayments(database.options, {
      clock,
      chains: [{ ...watched, rpcUrls: [node.url], isOfThisRun: false }],
      demo: { chainId: watched.id, tokenAddress: chain.token, recipientAddress: SHOP },
    }),
  );
  browser = await launchBrowser();
  stack.defer(() => browser.close());
}, 120_000);
afterAll(() => stack.disposeAsync());

/** Lets time pass by seconds until the page says this of the chain. */
async function passUntil(isTold: boolean, banner: ReturnType<Page['getByText']>): Promise<number> {
  const count = () => {
    clock.advance(SECOND_MS);
    return banner.count();
  };
  return until(count, told => told > 0 === isTold);
}

test('an open page says that its chain is late while its node is out, and takes it back', async () => {
  const answer = await fetch(`${service.url}/api/v1/payment-links`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${service.demoKey}` },
    body: JSON.stringify({ name: 'Field notebooks', amount: '2500000' }),
  });
  const page = await browser.newPage();
  const banner = page.getByText('Payments on Test chain are seen late at the moment.');
  await page.goto(text(record(await answer.json()).url));
  await page.getByRole('button', { name: 'Pay' }).click();
  await page.waitForURL(/\/pay\/s\/cs_/);
  await page.locator('[data-state-name=awaiting]').waitFor();
  const atFirst = await banner.count();

  node.tell(() => new Error('out of order'));
  clock.advance(LATE_MS);
  const whileOut = await passUntil(true, banner);
  const told = await page.locator('#status').textContent();
  node.tell(undefined);
  await chain.mine();
  const afterwards = await passUntil(false, banner);

  expect([atFirst, whileOut, afterwards]).toEqual([0, 1, 0]);
  expect(told).toContain('A payment that was sent is not lost: please do not send it again.');
  await page.close();
});
