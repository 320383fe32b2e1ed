import { afterAll, beforeAll, describe, expect } from 'vitest';
import { dataServiceContract } from '../../src/contract/contracts/data-service.ts';
import { explorerContract } from '../../src/contract/contracts/explorer.ts';
import { descriptionHandlers, docsRoutes } from '../../src/contract/description/description.ts';
import { mount } from '../../src/contract/mount/mount.ts';
import { chainsHandler } from '../../src/data/chain-status.ts';
import { plainRouter } from '../../src/http/plain-router.ts';
import { type Served, serve } from '../http/serve.ts';
import { test } from '../support/browser.ts';

/** Description of document 1 at a service with a different public address. */
function descriptions() {
  const { json: getDescription, yaml: getDescriptionYaml } = descriptionHandlers(
    () => explorerContract.document,
    () => 'https://elsewhere.example.org',
  );
  const exportList = async () => ({ status: 200 as const, body: '' });
  const handlers = { listChains: chainsHandler([]), exportList, getDescription, getDescriptionYaml };
  return mount({ contract: dataServiceContract, handlers, validateResponses: true });
}

test('"try it" fills in the example request, and optional parameters only with defaults', async ({
  browser,
}) => {
  const asked: string[] = [];
  const plain = plainRouter();
  await docsRoutes(plain, 'Reference');
  plain.all('/explorer/addresses/:hash/tokens', ctx => {
    asked.push(ctx.url);
    ctx.body = {};
  });
  await using server = await serve([await descriptions()], { plain });
  const page = await browser.newPage();

  await page.goto(`${server.url}/docs#/Addresses/listAddressTokens`);
  await page.locator('#operations-Addresses-listAddressTokens button.execute').click();
  await page.locator('#operations-Addresses-listAddressTokens .live-responses-table').waitFor();

  expect(asked).toEqual(['/explorer/addresses/0x90F79bf6EB2c4f870365E785982E1f101E93b906/tokens']);
  await page.close();
});

test('"try it" sends requests to the origin of the docs page, not to the public address', async ({
  browser,
}) => {
  const plain = plainRouter();
  await docsRoutes(plain, 'Reference');
  plain.all('/explorer/stats', ctx => {
    ctx.body = { total_blocks: 'asked from the page' };
  });
  await using server = await serve([await descriptions()], { plain });
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

describe('the docs page', () => {
  let server: Served;
  const get = (path: string) => fetch(server.url + path);

  beforeAll(async () => {
    const plain = plainRouter();
    await docsRoutes(plain, 'Reference <of> "this"');
    server = await serve([], { plain });
  });
  afterAll(() => server.close(0));

  test('is HTML that loads everything from this server, enforced by its policy', async () => {
    const page = await get('/docs');
    const html = await page.text();

    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; .*connect-src 'self'/,
    );
    expect(html).toContain('<title>Reference &#60;of&#62; &#34;this&#34;</title>');
    expect(html).not.toMatch(/(?:src|href)="(?!\/docs\/)/);
  });

  test('has every file that it names', async () => {
    const html = await (await get('/docs')).text();
    const names = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(match => match[1] ?? '');
    const files = await Promise.all(names.map(name => get(name)));
    const types = files.map(file => file.headers.get('content-type')?.split(';')[0]);

    expect(files.map(file => file.status)).toEqual(names.map(() => 200));
    expect(types).toEqual(['image/png', 'text/css', 'text/javascript', 'text/javascript']);
    expect(await files.at(-1)?.text()).toContain("fetch('/openapi.json')");
  });
});
