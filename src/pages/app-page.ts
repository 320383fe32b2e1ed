import { html } from 'htm/preact';
import type { Context } from 'koa';
import { LRUCache } from 'lru-cache';
import type { VNode } from 'preact';
import { type Representation, represent } from '../http/representation.ts';
import { sendRepresentation } from '../http/send.ts';
import type { Assets, JoinedStyles } from './assets.ts';
import { BASE_STYLES, documentText, pageHeaders } from './document.ts';

/** Page rendered by its module in the browser, or with its content. */
export interface AppPage {
  /** Title until the module sets a better one. */
  readonly title: string;
  /** Name of the module in `Assets`; none when absent. */
  readonly module?: string;
  /** Content of a page without a module. */
  readonly content?: VNode;
  /** 200 when absent. */
  readonly status?: number;
}

const STYLE = '#pages/app.css';

/** Style sheet of the pages of the explorer and the dashboard. */
export const APP_STYLE: JoinedStyles = {
  [STYLE]: [...BASE_STYLES, '#pages/browser/pages.css', 'uplot.css'],
};

/** Facts in the document of one address, where those of its kind of page say less. */
export interface DocumentFacts {
  readonly title: string;
  /** Sentence for search engines and previews. */
  readonly description: string;
  /** Path of the page, without other spellings. */
  readonly canonical: string;
}

/** Documents of single addresses that are kept, each of a few kilobytes. */
const KEPT_DOCUMENTS = 500;

/**
 * Creates the handler of a page. The document is the same for every visitor, so browsers can cache it and revalidate by
 * ETag. Other origins may not read it.
 */
export function appPage(assets: Assets, page: AppPage): (ctx: Context) => Promise<void> {
  const send = addressedPage(assets, page);
  return ctx => send(ctx);
}

/** Creates the handler of a page as `appPage` does. Its document may also have facts of the address, and its status. */
export function addressedPage(
  assets: Assets,
  { title, module, content, status: ownStatus = 200 }: AppPage,
): (ctx: Context, facts?: DocumentFacts, status?: number) => Promise<void> {
  const headers = { ...pageHeaders(assets), 'Cache-Control': 'no-cache' };
  const documents = new LRUCache<string, Promise<Representation>>({ max: KEPT_DOCUMENTS });
  const documentOf = (facts: DocumentFacts | undefined) =>
    represent(
      documentText({
        title,
        ...facts,
        assets,
        style: STYLE,
        script: module,
        body: content ?? untilLoaded(),
      }),
    );
  return async (ctx, facts, status = ownStatus) => {
    const key = facts === undefined ? '' : `${facts.title} ${facts.canonical}`;
    const document = documents.get(key) ?? documentOf(facts);
    documents.set(key, document);
    withoutForeignReaders(ctx);
    sendRepresentation(ctx, await document, headers, status);
  };
}

/** Content that the module of a page replaces. */
function untilLoaded(): VNode {
  return html`<div id="page"><p class="loading">Loading…</p></div>
    <noscript><p class="notice">This page needs JavaScript. Everything on it is also in the API: see <a href="/docs">the reference</a>.</p></noscript>`;
}

/** True for a request that prefers a page to JSON, as browsers do when they open an address. */
export function prefersPage(ctx: Context): boolean {
  return ctx.accepts('application/json', 'text/html') === 'text/html';
}

/**
 * Removes the CORS headers that the standard middleware sets for pages of any origin, which are meant for public data.
 */
export function withoutForeignReaders(ctx: Context): void {
  ctx.remove('Access-Control-Allow-Origin');
  ctx.remove('Access-Control-Expose-Headers');
}
