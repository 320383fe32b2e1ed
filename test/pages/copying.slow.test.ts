import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { launchBrowser } from '../lab/chromium.ts';
import { test as withDevnet } from '../support/served-devnet.ts';

/** `test` with a page at the data service by a name over plain http, where browsers give pages no clipboard. */
const test = withDevnet.extend('page', async ({ service }, { onCleanup }): Promise<Page> => {
  const browser = await launchBrowser(['--host-resolver-rules=MAP explorer.test 127.0.0.1']);
  onCleanup(() => browser.close());
  const { port } = new URL(service.url);
  return browser.newPage({ baseURL: `http://explorer.test:${port}` });
});

/** Text that a reader pastes. */
async function pasted(page: Page): Promise<string> {
  await page.evaluate(() => {
    const field = document.createElement('textarea');
    document.body.append(field);
    field.focus();
  });
  await page.keyboard.press('Control+V');
  return page.evaluate(() => document.querySelector<HTMLTextAreaElement>('body > textarea')?.value ?? '');
}

test('copy buttons work over plain http, and keep the focus', async ({ page }) => {
  await page.goto('/playground');
  expect(await page.evaluate(() => navigator.clipboard === undefined)).toBe(true);

  const button = page.getByRole('button', { name: 'Copy as TypeScript' });
  await button.click();
  await page.getByRole('button', { name: 'Copy as TypeScript' }).getByText('Copied').waitFor();

  expect(await button.evaluate(element => element === document.activeElement)).toBe(true);
  const shown = (await page.locator('pre', { hasText: 'import' }).textContent()) ?? '';
  expect(shown.split('\n').length).toBeGreaterThan(3);
  expect((await pasted(page)).trim()).toBe(shown.trim());
});

test('a shortened hash is copied whole over plain http', async ({ page, chain }) => {
  await page.goto(`/chain/${chain.id}`);
  const reference = page.locator('main .reference', { has: page.locator('.copy') }).first();
  await reference.locator('.copy').click();
  await reference.getByText('Copied').waitFor();

  expect(await pasted(page)).toBe(await reference.locator('code').getAttribute('title'));
});
