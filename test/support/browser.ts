import type { Browser, Page, Request } from 'playwright-core';
import { test as base } from 'vitest';
import { launchBrowser } from '#test/lab/chromium.ts';
import { until } from '#test/lab/until.ts';

/** `test` with a browser that all files of a worker share. */
export const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are used.
  .extend('browser', { scope: 'worker' }, async ({}, { onCleanup }): Promise<Browser> => {
    const browser = await launchBrowser();
    onCleanup(() => browser.close());
    return browser;
  });

/** Cuts the pauses of a page to a tenth, because it otherwise waits for seconds between requests. */
export async function makeBrisk(page: Page): Promise<void> {
  await page.addInitScript(`{
    const setTimeoutInFull = window.setTimeout;
    window.setTimeout = (run, ms, ...args) => setTimeoutInFull(run, ms / 10, ...args);
  }`);
}

/** Requests of a page since it was followed. */
export interface PageRequests {
  count(): number;
  /** Resolves once no request is open. */
  ended(): Promise<void>;
}

/**
 * Follows the requests of a page. Playwright's own `networkidle` never comes on pages with a shared worker, because the end
 * of its script is not reported.
 */
export function requestsOf(page: Page): PageRequests {
  const open = new Set<Request>();
  let count = 0;
  page.on('request', request => {
    count += 1;
    if (!request.url().includes('/live-worker')) open.add(request);
  });
  const end = (request: Request) => void open.delete(request);
  page.on('requestfinished', end);
  page.on('requestfailed', end);
  return {
    count: () => count,
    async ended() {
      await until(
        async () => open.size,
        size => size === 0,
      );
    },
  };
}

/**
 * Collects script errors of a page and console messages of the given kinds, such as violations of the content policy.
 */
export function complaintsOf(page: Page, kinds: readonly string[] = ['error']): readonly string[] {
  const complaints: string[] = [];
  page.on('pageerror', error => complaints.push(error.message));
  page.on('console', message => {
    if (kinds.includes(message.type())) complaints.push(message.text());
  });
  return complaints;
}
