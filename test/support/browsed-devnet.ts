import type { Page } from 'playwright-core';
import type { EmbeddedChain } from '../../src/devnet/start-devnet.ts';
import { test as withBrowser } from './browser.ts';
import { startTestDataService, type TestDataService } from './data-service.ts';
import { startTestDevnet } from './devnet.ts';

/**
 * `test` with a filled chain, the data service of it, and an empty page of a browser. `unexpected` collects what a page
 * must never do: errors of its scripts, and messages of the browser about them.
 */
export const test = withBrowser
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are used.
  .extend('chain', { scope: 'worker' }, async ({}, { onCleanup }): Promise<EmbeddedChain> => {
    const devnet = await startTestDevnet();
    onCleanup(devnet.stop);
    const [chain] = devnet.chains;
    if (chain === undefined) throw new Error('the devnet has no chain');
    return chain;
  })
  .extend('service', { scope: 'worker' }, async ({ chain }, { onCleanup }): Promise<TestDataService> => {
    const service = await startTestDataService([chain], { rateLimitPerMinute: 1e9 });
    onCleanup(service.close);
    return service;
  })
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are used.
  .extend('unexpected', async ({}): Promise<string[]> => [])
  .extend('page', async ({ browser, service, unexpected }, { onCleanup }): Promise<Page> => {
    const context = await browser.newContext({ baseURL: service.url });
    onCleanup(() => context.close());
    const page = await context.newPage();
    page.on('pageerror', error => unexpected.push(error.message));
    page.on('console', message => {
      if (message.type() === 'error') unexpected.push(message.text());
    });
    return page;
  });
