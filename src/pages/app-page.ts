import { html } from 'htm/preact';
import type { Context } from 'koa';
import { type Representation, represent } from '../http/representation.ts';
import { sendRepresentation } from '../http/send.ts';
import type { Assets } from './assets.ts';
import { BASE_STYLES, documentText, pageHeaders } from './document.ts';

/** A page that its module renders in the browser. */
export interface AppPage {
  /** Title until the module knows a better one. */
  readonly title: string;
  /** Name of the module, as in `Assets`. */
  readonly module: string;
  /** Style sheets after those of all pages, by their names. */
  readonly styles?: readonly string[];
  /** 200 when absent. */
  readonly status?: number;
}

const STYLES = [...BASE_STYLES, '#pages/browser/pages.css', 'uplot.css'];

/**
 * Makes the handler of a page that its module renders. The document is the same for everybody, so that it can be held
 * and compared by its tag. No other origin may read it.
 */
export function appPage(
  assets: Assets,
  { title, module, styles = [], status = 200 }: AppPage,
): (ctx: Context) => Promise<void> {
  const headers = { ...pageHeaders(assets), 'Cache-Control': 'no-cache' };
  let document: Promise<Representation> | undefined;
  return async ctx => {
    document ??= represent(
      documentText({
        title,
        assets,
        styles: [...STYLES, ...styles],
        script: module,
        body: html`<div id="page"><p class="loading">Loading…</p></div>
          <noscript><p class="notice">This page needs JavaScript. Everything on it is also in the API: see <a href="/docs">the reference</a>.</p></noscript>`,
      }),
    );
    withoutForeignReaders(ctx);
    sendRepresentation(ctx, await document, headers, status);
  };
}

/** Removes what the standard middleware grants to pages of any origin: that is for data that everybody may read. */
export function withoutForeignReaders(ctx: Context): void {
  ctx.remove('Access-Control-Allow-Origin');
  ctx.remove('Access-Control-Expose-Headers');
}
