import { expect } from 'vitest';
import { makeBrisk } from '../support/browser.ts';
import { test } from './data-page.ts';

/** A browser without shared workers has no stream of live events, so its pages poll. */
const WITHOUT_STREAM = 'delete window.SharedWorker';

test('the next page of a list replaces the current one without losing focus', async ({ page, devnet }) => {
  await page.goto(`/chain/${devnet.chains[0]?.id}`);
  const blocks = page.getByRole('region', { name: 'Blocks' });
  const next = page.getByRole('button', { name: 'Next' });
  await next.waitFor();
  const answer = Promise.withResolvers<void>();
  await page.route('**/explorer/blocks?*', async route => {
    await answer.promise;
    await route.continue();
  });

  await next.click();
  await expect.poll(() => blocks.getAttribute('aria-busy')).toBe('true');
  expect(await blocks.getByRole('row').count()).toBeGreaterThan(1);
  answer.resolve();

  await page.getByText('Page 2').waitFor();
  expect(await next.evaluate(button => button === document.activeElement)).toBe(true);
});

test('an answer that could not be refreshed stays, with the failure and a retry button', async ({ page }) => {
  await page.addInitScript(WITHOUT_STREAM);
  await makeBrisk(page);
  await page.goto('/');
  const blocks = page.locator('section').filter({ hasText: 'Latest blocks' }).last();
  await blocks.getByRole('row').nth(1).waitFor();
  await page.route('**/explorer/main-page/blocks?*', route =>
    route.fulfill({ status: 403, headers: { 'X-Request-Id': 'request-1' }, json: { message: 'No.' } }),
  );

  await blocks.getByText('Not renewed since').waitFor();
  expect(await blocks.getByText('403 · request request-1').count()).toBe(1);
  expect(await blocks.getByRole('row').count()).toBeGreaterThan(1);
  await page.unroute('**/explorer/main-page/blocks?*');
  await blocks.getByRole('button', { name: 'Try again' }).click();

  await blocks.getByText('Not renewed since').waitFor({ state: 'detached' });
});

test('the home page requests blocks only when there is a new one', async ({ page }) => {
  await page.addInitScript(WITHOUT_STREAM);
  await makeBrisk(page);
  const asked = { chains: 0, blocks: 0, stats: 0 };
  page.on('request', request => {
    const { pathname } = new URL(request.url());
    if (pathname === '/chains') asked.chains += 1;
    if (pathname === '/explorer/main-page/blocks') asked.blocks += 1;
    if (pathname === '/explorer/stats') asked.stats += 1;
  });

  await page.goto('/');
  await expect.poll(() => asked.chains).toBeGreaterThan(9);

  expect(asked.blocks).toBeLessThan(asked.chains / 2);
  expect(asked.stats).toBeLessThan(asked.chains / 2);
});

test('a permanent refusal is not requested again, and a record that may appear is', async ({
  page,
  devnet,
}) => {
  await page.addInitScript(WITHOUT_STREAM);
  await makeBrisk(page);
  const asked = { stats: 0, chains: 0, block: 0 };
  await page.route('**/explorer/stats?*', route => {
    asked.stats += 1;
    return route.fulfill({ status: 403, json: { message: 'No.' } });
  });
  page.on('request', request => {
    if (request.url().endsWith('/chains')) asked.chains += 1;
    if (request.url().includes('/explorer/blocks/99999999')) asked.block += 1;
  });

  await page.goto('/');
  await expect.poll(() => asked.chains).toBeGreaterThan(5);
  expect(asked.stats).toBe(1);
  await page.goto(`/chain/${devnet.chains[0]?.id}/block/99999999`);
  await expect.poll(() => asked.block).toBeGreaterThan(2);
});
