import type Router from '@koa/router';
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { type Representation, represent } from '../../http/representation.ts';
import { sendRepresentation } from '../../http/send.ts';
import { withoutForeignReaders } from '../app-page.ts';
import { assetRoutes, readAssets } from '../assets.ts';
import { BASE_STYLES, documentText, pageHeaders } from '../document.ts';
import { type Described, part, parts, words } from './described.ts';
import { markdown } from './markdown.ts';
import { type Operation, operationContent, schemaContent, schemaPath } from './operation-entry.ts';

const BROWSER = '#pages/reference/browser/';
const STYLE = '#pages/reference.css';
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/**
 * Registers `GET /docs`: the reference of this service, with a page for each operation and a form that sends it. Pages
 * are rendered from the description at their first request, and load files of this server only (Decision 442).
 */
export function referencePages(
  router: Router,
  { title, describe }: { readonly title: string; readonly describe: () => Described },
): void {
  const assets = readAssets(
    {
      '#pages/browser/': new URL('../browser/', import.meta.url),
      [BROWSER]: new URL('./browser/', import.meta.url),
    },
    { [STYLE]: [...BASE_STYLES, '#pages/browser/pages.css', `${BROWSER}reference.css`] },
  );
  assetRoutes(router, assets);
  const headers = { ...pageHeaders(assets), 'Cache-Control': 'no-cache' };
  let contents: ReadonlyMap<string, Content> | undefined;
  const rendered = new Map<string, Promise<Representation>>();

  router.all(/^\/docs(?:\/.*)?$/, async (ctx, next) => {
    contents ??= new Map(contentsOf(title, describe()));
    const content = contents.get(ctx.path);
    if (content === undefined) return next();
    const page = rendered.get(ctx.path) ?? represent(pageText(content));
    rendered.set(ctx.path, page);
    withoutForeignReaders(ctx);
    sendRepresentation(ctx, await page, headers);
  });

  function pageText({ name, render, hasForm = false }: Content): string {
    return documentText({
      title: name === '' ? title : `${name} · ${title}`,
      assets,
      style: STYLE,
      script: hasForm ? `${BROWSER}request-form.ts` : undefined,
      body: html`
        <a class="skip" href="#content">Skip to the content</a>
        <header class="top">
          <a class="brand" href="/">tollgate</a>
          <nav aria-label="Reference"><a href="/docs">${title}</a> <a href="/openapi.json">OpenAPI as JSON</a> <a href="/openapi.yaml">as YAML</a></nav>
        </header>
        <main id="content">${render()}</main>
      `,
    });
  }
}

interface Content {
  /** Name in the title of the window; empty for the first page. */
  readonly name: string;
  readonly render: () => ComponentChildren;
  readonly hasForm?: boolean;
}

/** Pages by their paths. */
function* contentsOf(title: string, document: Described): Generator<[path: string, content: Content]> {
  const operations = operationsOf(document);
  const schemas = Object.entries(part(document, 'components', 'schemas'));
  yield [
    '/docs',
    {
      name: '',
      render: () => overview(title, document, { operations, schemas: schemas.map(([name]) => name) }),
    },
  ];
  for (const one of operations)
    yield [
      operationPath(one),
      { name: words(one.operation, 'summary'), render: () => operationContent(document, one), hasForm: true },
    ];
  for (const [name, schema] of schemas)
    yield [schemaPath(name), { name, render: () => schemaContent(name, part(schema)) }];
}

function operationPath({ operation }: Operation): string {
  return `/docs/operations/${words(operation, 'operationId')}`;
}

/** All operations by their tags, and all schemas, as links to their pages. */
function overview(
  title: string,
  document: Described,
  { operations, schemas }: { readonly operations: readonly Operation[]; readonly schemas: readonly string[] },
): ComponentChildren {
  const groups = Map.groupBy(operations, ({ operation }) =>
    Array.isArray(operation.tags) ? String(operation.tags[0]) : 'Other',
  );
  const about = new Map(parts(document.tags).map(tag => [words(tag, 'name'), words(tag, 'description')]));
  return html`
    <h1>${title}</h1>
    <details class="card">
      <summary>About requests, paging, caching and errors</summary>
      <div class="stack">${markdown(words(part(document.info), 'description'))}</div>
    </details>
    ${[...groups].map(
      ([tag, members]) => html`<section class="card">
        <h2>${tag}</h2>
        ${markdown(about.get(tag) ?? '')}
        <ul class="plain operations">${members.map(
          member => html`<li>
            <a href=${operationPath(member)}>${words(member.operation, 'summary')}</a>
            <span class="path"><span class=${`method ${member.method}`}>${member.method.toUpperCase()}</span> <code>${member.path}</code></span>
          </li>`,
        )}</ul>
      </section>`,
    )}
    <section class="card">
      <h2>Schemas</h2>
      <ul class="plain row">${schemas.map(name => html`<li><a href=${schemaPath(name)}>${name}</a></li>`)}</ul>
    </section>
  `;
}

function operationsOf(document: Described): Operation[] {
  return Object.entries(part(document.paths)).flatMap(([path, item]) =>
    METHODS.flatMap(method => {
      const operation = part(item, method);
      return operation.operationId === undefined
        ? []
        : [{ method, path, operation, shared: parts(part(item).parameters) }];
    }),
  );
}
