import { html } from 'htm/preact';
import type { Context } from 'koa';
import { type Representation, represent } from '../http/representation.ts';
import { sendRepresentation } from '../http/send.ts';
import type { Assets, JoinedStyles } from './assets.ts';
import { BASE_STYLES, documentText, pageHeaders } from './document.ts';

/** Page rendered by its module in the browser. */
export interface AppPage {
  /** Title until the module sets a better one. */
  readonly title: string;
  /** Name of the module in `Assets`. */
  readonly module: string;
  /** 200 when absent. */
  readonly status?: number;
}

const STYLE = '#pages/app.css';

/** Style sheet of the pages of the explorer and the dashboard. */
export const APP_STYLE: JoinedStyles = {
  [STYLE]: [...BASE_STYLES, '#pages/browser/pages.css', 'uplot.css'],
};

/**
 * Creates the handler of a page rendered by its module. The document is the same for every visitor, so browsers can
 * cache it and revalidate by ETag. Other origins may not read it.
 */
export function appPage(
  assets: Assets,
  { title, module, status = 200 }: AppPage,
): (ctx: Context) => Promise<void> {
  const headers = { ...pageHeaders(assets), 'Cache-Control': 'no-cache' };
  let document: Promise<Representation> | undefined;
  return async ctx => {
    document ??= represent(
      documentText({
        title,
        assets,
        style: STYLE,
        script: module,
        body: html`<div id="page"><p class="loading">Loading…</p></div>
          <noscript><p class="notice">This page needs JavaScript. Everything on it is also in the API: see <a href="/docs">the reference</a>.</p></noscript>`,
      }),
    );
    withoutForeignReaders(ctx);
    sendRepresentation(ctx, await document, headers, status);
  };
}

/**
 * Removes the CORS headers that the standard middleware sets for pages of any origin, which are meant for public data.
 */
export function withoutForeignReaders(ctx: Context): void {
  ctx.remove('Access-Control-Allow-Origin');
  ctx.remove('Access-Control-Expose-Headers');
}
