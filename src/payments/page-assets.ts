import { type Assets, readAssets } from '#pages/assets.ts';

/** Reads the files that the pages of the payments service load: its own by room, and those of all pages. */
export function pageAssets(): Assets {
  return readAssets({
    '#pages/browser/': new URL('../pages/browser/', import.meta.url),
    '#payments/checkout/page/browser/': new URL('./checkout/page/browser/', import.meta.url),
    '#payments/dashboard/browser/': new URL('./dashboard/browser/', import.meta.url),
  });
}
