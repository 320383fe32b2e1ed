import type Router from '@koa/router';
import { appPage } from '#pages/app-page.ts';
import { assetRoutes, readAssets } from '#pages/assets.ts';

const FOLDER = '#data/pages/browser/';

// Patterns, because the router reads addresses given as text in any case and with a slash at the end.
const PAGES: readonly (readonly [path: RegExp, title: string, module: string])[] = [
  [/^\/$/, 'tollgate', 'home/home.ts'],
  [/^\/chain\/\d+\/token\/[^/]+$/, 'Token · tollgate', 'token/token.ts'],
  [/^\/chain\/\d+\/token\/[^/]+\/instance\/[^/]+$/, 'NFT · tollgate', 'token/instance.ts'],
  [/^\/chain\/\d+\/block\/[^/]+$/, 'Block · tollgate', 'block/block.ts'],
  [/^\/chain\/\d+\/tx\/[^/]+$/, 'Transaction · tollgate', 'transaction/transaction.ts'],
];

/**
 * Registers the home and the explorer's pages. A page is the same document for every block or address: its module reads
 * the path and asks the API. So it is there before a chain is, and says nothing that the API does not say.
 */
export function dataPages(router: Router): void {
  const assets = readAssets({
    '#pages/browser/': new URL('../../pages/browser/', import.meta.url),
    [FOLDER]: new URL('./browser/', import.meta.url),
  });
  assetRoutes(router, assets);
  for (const [path, title, module] of PAGES) {
    router.all(path, appPage(assets, { title, module: `${FOLDER}${module}` }));
  }
}
