import { APP_STYLE } from '#pages/app-page.ts';
import { type Assets, readAssets } from '#pages/assets.ts';
import { PAY_STYLE } from './checkout/page/document.ts';

/** Reads the browser files of the pay page and the dashboard, and those that all pages share. */
export function pageAssets(): Assets {
  return readAssets(
    {
      '#pages/browser/': new URL('../pages/browser/', import.meta.url),
      '#payments/browser/': new URL('./browser/', import.meta.url),
      '#payments/checkout/page/browser/': new URL('./checkout/page/browser/', import.meta.url),
      '#payments/dashboard/browser/': new URL('./dashboard/browser/', import.meta.url),
    },
    { ...APP_STYLE, ...PAY_STYLE },
  );
}
