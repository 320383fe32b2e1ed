import type { Page } from 'playwright-core';
import { concatHex, getContractAddress, type Hex, numberToHex, size } from 'viem';
import { beforeAll, expect, onTestFinished } from 'vitest';
import { CHAIN_ID, servedTestChain, startTestChain } from '../indexer/support.ts';
import { startTestDataService, type TestDataService } from '../lab/data-service.ts';
import { test } from '../support/browser.ts';

/** Calls itself with n - 1 until the argument n is 0. */
const DEEP: Hex = '0x5f358015601757600190035f525f5f60205f5f305af1005b00';
/** Calls an address without code n times. */
const WIDE: Hex = '0x5f355b5f5f5f5f5f61beef5ff150600190038060025700';

let service: TestDataService;
const hashes = { deep: '', wide: '' };

beforeAll(async () => {
  const chain = await startTestChain();
  const from = chain.accounts.signer(0).address;
  let nonce = 0n;
  const sent = async (code: Hex, n: number) => {
    const to = getContractAddress({ from, nonce });
    const init = concatHex(['0x60', numberToHex(size(code), { size: 1 }), '0x8060095f395ff3', code]);
    await chain.send(0, { data: init });
    await chain.mine();
    const { hash } = await chain.send(0, { to, data: numberToHex(n, { size: 32 }), gas: 16_000_000n });
    await chain.mine();
    nonce += 2n;
    return hash;
  };
  hashes.deep = await sent(DEEP, 60);
  hashes.wide = await sent(WIDE, 3_000);
  service = await startTestDataService([servedTestChain(chain.rpcUrl)]);
  return async () => {
    await service.close();
    await chain.stop();
  };
}, 60_000);

async function opened(page: Page, hash: string): Promise<void> {
  await page.goto(`${service.url}/chain/${CHAIN_ID}/tx/${hash}?tab=calls`);
  await page.locator('.step').first().waitFor();
}

test.for([390, 1280])('60 calls inside each other are readable at %i px', async (width, { browser }) => {
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  onTestFinished(() => page.close());
  await opened(page, hashes.deep);
  const folded = await page.locator('.step').count();

  await page.getByRole('button', { name: 'Expand all' }).click();
  await expect.poll(() => page.locator('.step').count()).toBe(61);
  const deepest = page.locator('.step').last();

  expect(folded).toBe(9);
  expect(await deepest.innerText()).toContain('60');
  const widths = await page.locator('.step > .row').evaluateAll(rows => rows.map(row => row.clientWidth));
  expect(Math.min(...widths)).toBeGreaterThan(width / 2);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);

  await page.getByRole('button', { name: 'Calls of call 0.0.0', exact: true }).click();
  await expect.poll(() => page.locator('.step').count()).toBe(4);
  await page.locator('.step').last().getByText('57 inside').waitFor();
});

test('3,000 calls are shown a hundred at a time', async ({ browser }) => {
  const page = await browser.newPage();
  onTestFinished(() => page.close());
  await opened(page, hashes.wide);

  await page.getByText('3,001 calls').waitFor();
  expect(await page.locator('.step').count()).toBe(100);
  await page.getByRole('button', { name: '2,901 more' }).click();

  await expect.poll(() => page.locator('.step').count()).toBe(200);
});
