import type Router from '@koa/router';
import { isUnanswered } from '#http/app/error-answers.ts';
import { APP_STYLE, appPage } from '#pages/app-page.ts';
import { assetRoutes, readAssets } from '#pages/assets.ts';

const FOLDER = '#data/pages/browser/';

// Patterns, because the router matches string paths in any letter case and with a trailing slash.
const PAGES: readonly (readonly [path: RegExp, title: string, module: string])[] = [
  [/^\/$/, 'tollgate', 'home/home.ts'],
  [/^\/playground$/, 'Playground · tollgate', 'playground/playground.ts'],
  [/^\/search$/, 'Search · tollgate', 'search/search.ts'],
  [/^\/chain\/\d+$/, 'Chain · tollgate', 'chain/chain.ts'],
  [/^\/chain\/\d+\/address\/[^/]+$/, 'Address · tollgate', 'address/address.ts'],
  [/^\/chain\/\d+\/token\/[^/]+$/, 'Token · tollgate', 'token/token.ts'],
  [/^\/chain\/\d+\/token\/[^/]+\/instance\/[^/]+$/, 'NFT · tollgate', 'token/instance.ts'],
  [/^\/chain\/\d+\/block\/[^/]+$/, 'Block · tollgate', 'block/block.ts'],
  [/^\/chain\/\d+\/tx\/[^/]+$/, 'Transaction · tollgate', 'transaction/transaction.ts'],
];

const CHAIN = /^\/chain\/(?<id>\d+)(?:\/|$)/;
/** Every path below `/chain` without a page. */
const REST = /^\/chain(?:\/.*)?$/;

/**
 * Registers the home page and the explorer's pages. Each kind of page is one document for all blocks or addresses: its
 * module reads the path and calls the API. So pages work before a chain is open, and show nothing that the API does
 * not. Other paths below `/chain` get a "not found" page with status 404.
 */
export function dataPages(router: Router, { chainIds }: { chainIds: readonly number[] }): void {
  const assets = readAssets(
    {
      '#pages/browser/': new URL('../../pages/browser/', import.meta.url),
      [FOLDER]: new URL('./browser/', import.meta.url),
    },
    APP_STYLE,
  );
  assetRoutes(router, assets);
  const missing = appPage(assets, {
    title: 'Not found · tollgate',
    module: `${FOLDER}chain/missing.ts`,
    status: 404,
  });
  for (const [path, title, module] of PAGES) {
    const page = appPage(assets, { title, module: `${FOLDER}${module}` });
    router.all(path, ctx => (isServed(ctx.path, chainIds) ? page(ctx) : missing(ctx)));
  }
  router.all(REST, async (ctx, next) => {
    await next(); // later routes below `/chain`, such as pictures
    if (isUnanswered(ctx)) await missing(ctx);
  });
}

/** True for a path that gets a page, or the "not found" page. */
export function isPagePath(path: string): boolean {
  return REST.test(path) || PAGES.some(([pattern]) => pattern.test(path));
}

/** False for a path of a chain that is not served. */
function isServed(path: string, chainIds: readonly number[]): boolean {
  const id = CHAIN.exec(path)?.groups?.id;
  return id === undefined || chainIds.includes(Number(id));
}
