import type { Browser } from 'playwright-core';
import { expect } from 'vitest';
import { type ShownPage, type ShownServices, startShownServices } from '#scripts/examples/shown-services.ts';
import { requestsOf, test as withBrowser } from '../support/browser.ts';

const test = withBrowser
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of used fixtures from the pattern.
  .extend('services', { scope: 'file' }, async ({}, { onCleanup }): Promise<ShownServices> => {
    const services = await startShownServices();
    onCleanup(() => services[Symbol.asyncDispose]());
    return services;
  });

/** Bound of "good". Source: web.dev, "Cumulative Layout Shift". */
const MAX_SHIFT = 0.1;
/** A slow computer: more of a page is painted before its data arrives. */
const CPU_SLOWDOWN = 4;
/** Requests of a first visit, of all pages: the home page has the most. */
const MAX_REQUESTS = 15;
const LONG_MS = 600_000;

interface Visit {
  readonly shift: number;
  readonly requests: number;
}

/** Opens a page twice, with an empty cache and with a full one. */
async function visits(
  browser: Browser,
  { url }: ShownPage,
  width: number,
): Promise<[cold: Visit, warm: Visit]> {
  const context = await browser.newContext({ viewport: { width, height: 900 } });
  await context.addInitScript(`{
    window.shift = 0;
    new PerformanceObserver(list => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
    }).observe({ type: 'layout-shift', buffered: true });
  }`);
  const visit = async (): Promise<Visit> => {
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN });
    const requests = requestsOf(page);
    await page.goto(url);
    await page.waitForFunction(
      () => document.querySelector('main') !== null && document.querySelector('.loading') === null,
    );
    await requests.ended();
    const shift = Number(await page.evaluate('window.shift'));
    await page.close();
    return { shift, requests: requests.count() };
  };
  const cold = await visit();
  const warm = await visit();
  await context.close();
  return [cold, warm];
}

for (const width of [390, 1280])
  test(
    `pages of the explorer load few files, and nothing on them jumps, at ${width} px`,
    async ({ services, browser }) => {
      const faults: string[] = [];

      // The tabs of a transaction are one kind of page.
      for (const page of services.explorer.filter(({ name }) => !name.includes(', '))) {
        for (const [index, { shift, requests }] of (await visits(browser, page, width)).entries()) {
          const visit = `${page.name}, ${index === 0 ? 'first' : 'second'} visit`;
          if (shift >= MAX_SHIFT) faults.push(`${visit}: shifts by ${shift.toFixed(3)}`);
          if (requests > MAX_REQUESTS) faults.push(`${visit}: ${requests} requests`);
        }
      }

      expect(faults).toEqual([]);
    },
    LONG_MS,
  );
