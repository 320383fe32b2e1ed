import type { PageLimit } from '#http/app/rate-limit.ts';
import { pathOf } from '#http/app/request-target.ts';
import { sendRefusalPage } from '#pages/refusal-page.ts';
import { isPagePath } from './routes.ts';

/** Files of pages, and answers that are the same for everybody and are kept ready. */
const READY = /^\/(?:assets\/.*|docs(?:\/.*)?|openapi\.(?:json|yaml)|healthz|readyz)$/;

/**
 * Requests that an open home page repeats, with at most one chain. They have so few different answers that a client
 * with thousands of requests causes no more loads than one with a few.
 */
const REPEATED =
  /^\/(?:chains|explorer\/stats|explorer\/main-page\/(?:blocks|transactions))(?:\?(?:chain_id=\d{1,16})?)?$/;

interface PageLimitOptions {
  readonly requestsPerMinute: number;
  readonly isPicturePath: (path: string) => boolean;
}

/**
 * Limit of pages, their files, and what an open home page repeats (Decision 274). A picture is no page, although its
 * path is below one: its bytes come from another host.
 */
export function pageLimit({ requestsPerMinute, isPicturePath }: PageLimitOptions): PageLimit {
  const isPage = (path: string) => isPagePath(path) && !isPicturePath(path);
  return {
    requestsPerMinute,
    covers(target) {
      const path = pathOf(target);
      return isPage(path) || READY.test(path) || REPEATED.test(target);
    },
    refuse(ctx, waitS) {
      const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
      if (!isRead || !(isPage(ctx.path) || ctx.path === '/docs')) return false;
      sendRefusalPage(ctx, waitS);
      return true;
    },
  };
}
