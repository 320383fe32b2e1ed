import { expect } from 'vitest';
import { type ShownPage, type ShownServices, startShownServices } from '#scripts/examples/shown-services.ts';
import { test as withBrowser } from '../support/browser.ts';
import { faultsOf } from '../support/page-faults.ts';

const test = withBrowser
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of used fixtures from the pattern.
  .extend('services', { scope: 'file' }, async ({}, { onCleanup }): Promise<ShownServices> => {
    const services = await startShownServices();
    onCleanup(() => services[Symbol.asyncDispose]());
    return services;
  });

/** Half of the pages take five minutes on a busy machine. */
const LONG_MS = 900_000;

/** Expected error statuses on a page for a missing record. */
const NOT_THERE = [404];

/** Faults of pages, by page name; pages without a fault are left out. */
async function faultyPages(
  pages: readonly ShownPage[],
  faults: (page: ShownPage) => Promise<string[]>,
): Promise<Record<string, string[]>> {
  const faulty: Record<string, string[]> = {};
  for (const page of pages) {
    const found = await faults(page);
    if (found.length > 0) faulty[page.name] = found;
  }
  return faulty;
}

test(
  'every page of the explorer opens without a fault, on a phone and a desktop, light and dark',
  async ({ services, browser }) => {
    const context = await browser.newContext();

    const faulty = await faultyPages(services.explorer, ({ name, url }) =>
      faultsOf(context, url, { statuses: name.endsWith('not there') ? NOT_THERE : [] }),
    );

    expect(faulty).toEqual({});
    await context.close();
  },
  LONG_MS,
);

test(
  'every page of the dashboard opens without a fault, on a phone and a desktop, light and dark',
  async ({ services, browser }) => {
    const context = await services.signedIn(browser);

    const faulty = await faultyPages(services.dashboard, ({ url }) => faultsOf(context, url));

    expect(faulty).toEqual({});
    await context.close();
  },
  LONG_MS,
);

test(
  'every page for payers opens without a fault, on a phone and a desktop, light and dark',
  async ({ services, browser }) => {
    const context = await browser.newContext();

    const faulty = await faultyPages(services.checkout, ({ url }) =>
      // The merchant's picture.
      faultsOf(context, url, { hosts: ['books.example'] }),
    );

    expect(faulty).toEqual({});
    await context.close();
  },
  LONG_MS,
);
