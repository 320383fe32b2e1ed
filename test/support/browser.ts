import type { Browser } from 'playwright-core';
import { test as base } from 'vitest';
import { launchBrowser } from '#scripts/pages/browser.ts';

/** `test` with a browser that all files of a worker share. */
export const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are used.
  .extend('browser', { scope: 'worker' }, async ({}, { onCleanup }): Promise<Browser> => {
    const browser = await launchBrowser();
    onCleanup(() => browser.close());
    return browser;
  });
