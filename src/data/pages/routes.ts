import type Router from '@koa/router';
import type { Context } from 'koa';
import { isUnanswered } from '#http/app/error-answers.ts';
import { APP_STYLE, addressedPage, appPage, prefersPage } from '#pages/app-page.ts';
import { assetRoutes, readAssets } from '#pages/assets.ts';
import { meantPath, PAGE_KINDS, pagePathOf } from './page-kinds.ts';
import { qrRoute } from './qr-route.ts';
import type { RecordLook } from './record-look.ts';

const FOLDER = '#data/pages/browser/';
const CHAIN = /^\/chain\/(?<id>\d+)(?:\/|$)/;
/** Every path below `/chain` without a page. */
const REST = /^\/chain(?:\/.*)?$/;
/** EIP-3091 without a chain. */
const WITHOUT_CHAIN = /^\/(?:tx|block|address|token)\//;

interface DataPagesOptions {
  readonly chainIds: readonly number[];
  /** Tells that the record of a page does not exist. */
  readonly isMissing: RecordLook;
}

/** Answers a request that nothing else answers: people get a page, programs no answer. */
export type LostAnswer = (ctx: Context) => Promise<void>;

/**
 * Registers the home page and the explorer's pages. The document of a page says only what its path says: its module
 * reads the path and calls the API. So pages work before a chain is open, and show nothing that the API does not. Other
 * paths below `/chain` get a "not found" page with status 404. Returns the answer for paths that no route has.
 */
export function dataPages(router: Router, { chainIds, isMissing }: DataPagesOptions): LostAnswer {
  const assets = readAssets(
    {
      '#pages/browser/': new URL('../../pages/browser/', import.meta.url),
      [FOLDER]: new URL('./browser/', import.meta.url),
    },
    APP_STYLE,
  );
  assetRoutes(router, assets);
  qrRoute(router);
  router.all(/^\/favicon\.ico$/, ctx => {
    ctx.set('Cache-Control', 'public, max-age=86400');
    ctx.redirect(assets.path('#pages/browser/icon.svg'));
  });
  const missing = appPage(assets, {
    title: 'Not found · tollgate',
    module: `${FOLDER}chain/missing.ts`,
    status: 404,
  });
  const [onlyChain, ...otherChains] = chainIds;
  const single = otherChains.length === 0 ? onlyChain : undefined;

  for (const kind of PAGE_KINDS) {
    const page = addressedPage(assets, { title: kind.title, module: `${FOLDER}${kind.module}` });
    router.all(kind.path, async ctx => {
      if (!isServed(ctx.path, chainIds)) return missing(ctx);
      const meant = meantPath(ctx.path);
      if (meant !== undefined) return redirect(ctx, meant);
      if (single !== undefined && WITHOUT_CHAIN.test(ctx.path))
        return redirect(ctx, `/chain/${single}${ctx.path}`);
      const { record, isWellFormed, ...facts } = pagePathOf(kind, ctx.path);
      const isLost = !isWellFormed || (record !== undefined && prefersPage(ctx) && (await isMissing(record)));
      await page(ctx, facts, isLost ? 404 : 200);
    });
  }
  const lost: LostAnswer = async ctx => {
    const meant = meantPath(ctx.path);
    if (meant !== undefined && isServed(meant, chainIds)) redirect(ctx, meant);
    else await missing(ctx);
  };
  router.all(REST, async (ctx, next) => {
    await next(); // later routes below `/chain`, such as pictures
    if (isUnanswered(ctx)) await lost(ctx);
  });
  return async ctx => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return;
    ctx.vary('Accept');
    if (meantPath(ctx.path) !== undefined || prefersPage(ctx)) await lost(ctx);
  };
}

/** True for a path that gets a page, or the "not found" page. */
export function isPagePath(path: string): boolean {
  return REST.test(path) || PAGE_KINDS.some(kind => kind.path.test(path));
}

/** Redirects to another path of this server. It is not stored for good, because the chains may change. */
function redirect(ctx: Context, path: string): void {
  ctx.set('Cache-Control', 'no-cache');
  ctx.redirect(`${path}${ctx.search}`);
}

/** False for a path of a chain that is not served. */
function isServed(path: string, chainIds: readonly number[]): boolean {
  const id = CHAIN.exec(path)?.groups?.id;
  return id === undefined || chainIds.includes(Number(id));
}
