import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type Router from '@koa/router';
import { stringify } from 'yaml';
import { type Representation, represent } from '../../http/representation.ts';
import { sendRepresentation } from '../../http/send.ts';
import { child, type JsonObject } from '../contracts/document.ts';
import { errorCodesOf } from '../contracts/error-codes.ts';
import { mapOperations } from './examples.ts';
import { mintlifyVariant } from './mintlify.ts';
import { publicDocument } from './public-document.ts';

/** Clients revalidate by ETag: the description changes only with a new version of the service. */
const CACHING = { 'Cache-Control': 'no-cache' };

/**
 * Responds with a description. `mintlify`, with or without a value, selects the variant for that documentation tool.
 */
type DescriptionHandler = (request: { readonly query: { readonly mintlify?: string } }) => Promise<{
  status: 200;
  headers: Readonly<Record<string, string>>;
  encoded: { representation: Representation };
}>;

/**
 * Handlers of a service's description in JSON and in YAML. Each form is built at its first request, when the public
 * address is known; building both takes longer than the rest of the startup.
 */
export function descriptionHandlers(
  describe: () => JsonObject,
  publicUrl: () => string,
): { readonly json: DescriptionHandler; readonly yaml: DescriptionHandler } {
  const plain = () => publicDocument(describe(), publicUrl());
  const variant = () => mintlifyVariant(describe(), publicUrl());
  return {
    json: descriptionHandler({ plain, variant }, JSON.stringify),
    yaml: descriptionHandler({ plain, variant }, stringify),
  };
}

function descriptionHandler(
  forms: { readonly plain: () => JsonObject; readonly variant: () => JsonObject },
  print: (document: JsonObject) => string,
): DescriptionHandler {
  const plain = representedOnce(() => print(forms.plain()));
  const variant = representedOnce(() => print(forms.variant()));
  return async ({ query: { mintlify } }) => ({
    status: 200,
    headers: CACHING,
    encoded: { representation: await (mintlify === undefined ? plain : variant)() },
  });
}

/** Builds a representation at the first call and caches it. */
function representedOnce(make: () => string | Buffer): () => Promise<Representation> {
  let made: Promise<Representation> | undefined;
  return () => {
    made ??= represent(make());
    return made;
  };
}

const PAGE = (title: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

/** "Try it" sends requests to the page's origin, which may differ from the service's public address. */
const START = `fetch('/openapi.json')
  .then(answer => answer.json())
  .then(description =>
    SwaggerUIBundle({
      spec: { ...description, servers: [{ url: location.origin }] },
      dom_id: '#reference',
      deepLinking: true,
      validatorUrl: null,
      tryItOutEnabled: true,
      displayRequestDuration: true,
    }),
  );
`;

/** Swagger UI sets inline styles. All other content comes from this server only. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Registers `GET /docs`: the reference of this service with a working "try it", from local files only. */
export async function docsRoutes(router: Router, title: string): Promise<void> {
  const folder = join(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'), '..');
  const file = (name: string) => readFile(join(folder, name));
  const pages = [
    { path: '/docs', type: 'text/html; charset=utf-8', content: Buffer.from(PAGE(escapeHtml(title))) },
    { path: '/docs/start.js', type: 'text/javascript; charset=utf-8', content: Buffer.from(START) },
    {
      path: '/docs/swagger-ui.css',
      type: 'text/css; charset=utf-8',
      content: await file('swagger-ui.css'),
    },
    {
      path: '/docs/swagger-ui-bundle.js',
      type: 'text/javascript; charset=utf-8',
      content: await file('swagger-ui-bundle.js'),
    },
    { path: '/docs/favicon-32x32.png', type: 'image/png', content: await file('favicon-32x32.png') },
  ];
  for (const { path, type, content } of pages) {
    const headers = { 'Content-Type': type, 'Cache-Control': 'no-cache', 'Content-Security-Policy': POLICY };
    const page = representedOnce(() => content);
    router.all(path, async ctx => sendRepresentation(ctx, await page(), headers));
  }
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`);
}

/** Adds the possible error codes to the description of each operation (Decision 211). */
export function withErrorCodes(document: JsonObject): JsonObject {
  const paths = mapOperations(child(document, 'paths'), (operation, path, method) => {
    const codes = errorCodesOf(document, { path, method, operation });
    const parts = [...codes].map(
      ([status, some]) => `${status} ${some.map(code => `\`${code}\``).join(', ')}`,
    );
    if (parts.length === 0) return operation;
    return { ...operation, description: `${operation.description}\n\nErrors: ${parts.join('; ')}.` };
  });
  return { ...document, paths };
}
