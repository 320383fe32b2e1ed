import { expect } from 'vitest';
import { startShownServices } from '#scripts/examples/shown-services.ts';
import { test } from '../support/browser.ts';
import { faultsOf } from '../support/page-faults.ts';

test('pages of the reference have no fault, in light and dark, and their forms send requests', async ({
  browser,
}) => {
  await using services = await startShownServices();
  const data = new URL(services.explorer[0]?.url ?? '').origin;
  const context = await browser.newContext();
  const faults: Record<string, string[]> = {};
  for (const url of [
    `${data}/docs`,
    `${data}/docs/operations/listAddressTokens`,
    `${data}/docs/operations/queryBlocks`,
    `${data}/docs/schemas/Transaction`,
    `${services.shop.url}/docs`,
    `${services.shop.url}/docs/operations/createCheckoutSession`,
  ]) {
    const found = await faultsOf(context, url);
    if (found.length > 0) faults[url] = found;
  }
  expect(faults).toEqual({});

  const page = await context.newPage();
  await page.goto(`${data}/docs/operations/listAddressTokens`);
  const sent = page.waitForRequest(request => request.url().includes('/explorer/addresses/'));
  await page.getByRole('button', { name: 'Send' }).click();
  // The example request: optional parameters without an example stay empty.
  expect(new URL((await sent).url()).search).toBe('');
  expect(await page.locator('.reply').getByText('GET').textContent()).toMatch(
    new RegExp(`· GET ${data}/explorer/addresses/0x`),
  );
  await page.getByLabel('chain_id').fill('31337');
  await page.getByLabel('address_hash').fill('0x90F79bf6EB2c4f870365E785982E1f101E93b906');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.locator('.reply').getByText('chain_id=31337').waitFor();
  expect(await page.getByLabel('Body', { exact: true }).textContent()).toContain('"items"');

  await page.goto(`${services.shop.url}/docs/operations/listPaymentLinks`);
  await page.getByLabel('API key').fill(services.shop.key);
  await page.getByRole('button', { name: 'Send' }).click();
  await page.locator('.reply').getByText(/^200/).waitFor();
  await context.close();
}, 300_000);
