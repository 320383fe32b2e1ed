import { expect } from 'vitest';
import { explorerContract } from '../../src/contract/contracts/explorer.ts';
import { descriptionRoutes, docsRoutes } from '../../src/contract/description/description.ts';
import { plainRouter } from '../../src/http/plain-router.ts';
import { serve } from '../http/serve.ts';
import { test } from '../support/browser.ts';

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
