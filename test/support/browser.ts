import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { test as base } from 'vitest';

/** Where Debian and others put it; playwright-core brings none of its own. */
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Starts the machine's own Chromium, without a window. */
export function launchBrowser(): Promise<Browser> {
  const executablePath = PLACES.find(path => existsSync(path));
  if (executablePath === undefined)
    throw new Error(`These tests need Chromium in one of ${PLACES.join(', ')}.`);
  // Its sandbox refuses to run as root; what it opens is our own pages only.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

/** `test` with a browser that all files of a worker share. */
export const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are used.
  .extend('browser', { scope: 'worker' }, async ({}, { onCleanup }): Promise<Browser> => {
    const browser = await launchBrowser();
    onCleanup(() => browser.close());
    return browser;
  });
