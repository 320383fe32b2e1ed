import type { Page } from 'playwright-core';
import { launchBrowser } from '#test/lab/chromium.ts';
import { complaintsOf } from '../support/browser.ts';
import { test as withDevnet } from '../support/served-devnet.ts';

/** `test` with browser pages at the service of both chains. Errors that a page reports are in `complaints`. */
export const test = withDevnet
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of used fixtures from the pattern.
  .extend('browser', { scope: 'worker' }, async ({}, { onCleanup }) => {
    const browser = await launchBrowser();
    onCleanup(() => browser.close());
    return browser;
  })
  .extend('page', async ({ browser, serviceOfBoth }, { onCleanup }): Promise<Page> => {
    const page = await browser.newPage({ baseURL: serviceOfBoth.url });
    onCleanup(() => page.close());
    return page;
  })
  .extend('complaints', ({ page }) => complaintsOf(page, ['error', 'warning']));
