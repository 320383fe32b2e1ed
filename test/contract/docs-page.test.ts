import { expect } from 'vitest';
import { explorerContract } from '../../src/contract/contracts/explorer.ts';
import { descriptionRoutes, docsRoutes } from '../../src/contract/description/description.ts';
import { plainRouter } from '../../src/http/plain-router.ts';
import { serve } from '../http/serve.ts';
import { test } from '../support/browser.ts';

test('"try it" fills in the example request, and no optional parameter besides defaults', async ({
  browser,
}) => {
  const asked: string[] = [];
  const plain = plainRouter();
  descriptionRoutes(
    plain,
    () => explorerContract.document,
    () => 'https://elsewhere.example.org',
  );
  await docsRoutes(plain, 'Reference');
  plain.all('/explorer/addresses/:hash/tokens', ctx => {
    asked.push(ctx.url);
    ctx.body = {};
  });
  await using server = await serve([], { plain });
  const page = await browser.newPage();

  await page.goto(`${server.url}/docs#/Addresses/listAddressTokens`);
  await page.locator('#operations-Addresses-listAddressTokens button.execute').click();
  await page.locator('#operations-Addresses-listAddressTokens .live-responses-table').waitFor();

  expect(asked).toEqual(['/explorer/addresses/0x90F79bf6EB2c4f870365E785982E1f101E93b906/tokens']);
  await page.close();
});

test('"try it" asks the origin of the docs page, whatever the public address is', async ({ browser }) => {
  const plain = plainRouter();
  descriptionRoutes(
    plain,
    () => explorerContract.document,
    () => 'https://elsewhere.example.org',
  );
  await docsRoutes(plain, 'Reference');
  plain.all('/explorer/stats', ctx => {
    ctx.body = { total_blocks: 'asked from the page' };
  });
  await using server = await serve([], { plain });
  const page = await browser.newPage();

  await page.goto(`${server.url}/docs#/Statistics/getStats`);
  await page.locator('#operations-Statistics-getStats button.execute').click();
  const answer = page.locator('#operations-Statistics-getStats .live-responses-table');
  await answer.waitFor();

  expect(await answer.innerText()).toContain('asked from the page');
  expect(await page.locator('#operations-Statistics-getStats .request-url').innerText()).toContain(
    server.url,
  );
  await page.close();
});
