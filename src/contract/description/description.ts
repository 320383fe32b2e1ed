import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type Router from '@koa/router';
import { stringify } from 'yaml';
import { represent } from '../../http/representation.ts';
import { sendRepresentation } from '../../http/send.ts';
import type { JsonObject } from '../contracts/document.ts';
import { mintlifyVariant } from './mintlify.ts';

/** The description changes only with a new version of the service; the ETag tells. */
const CACHING = { 'Cache-Control': 'no-cache' };

/**
 * Registers a service's description: `GET /openapi.json` and `/openapi.yaml`, and with the query parameter `mintlify`,
 * bare or with any value, the variant for that documentation tool. All four are made once.
 */
export async function descriptionRoutes(
  router: Router,
  document: JsonObject,
  publicUrl: string,
): Promise<void> {
  const variant = mintlifyVariant(document, publicUrl);
  const [plainJson, plainYaml, variantJson, variantYaml] = await Promise.all(
    [JSON.stringify(document), stringify(document), JSON.stringify(variant), stringify(variant)].map(
      represent,
    ),
  );
  const wantsVariant = (querystring: string) => new URLSearchParams(querystring).has('mintlify');
  router.all('/openapi.json', ctx => {
    const chosen = wantsVariant(ctx.querystring) ? variantJson : plainJson;
    if (chosen !== undefined) sendRepresentation(ctx, chosen, CACHING);
  });
  router.all('/openapi.yaml', ctx => {
    const chosen = wantsVariant(ctx.querystring) ? variantYaml : plainYaml;
    if (chosen !== undefined)
      sendRepresentation(ctx, chosen, { ...CACHING, 'Content-Type': 'application/yaml' });
  });
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

const START = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  validatorUrl: null,
  tryItOutEnabled: true,
  displayRequestDuration: true,
});
`;

/** Swagger UI sets styles on elements; everything else comes from this server, and nothing from anywhere else. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Registers `GET /docs`: the reference of this service with a working "try it", from files on this machine only. */
export async function docsRoutes(router: Router, title: string): Promise<void> {
  const folder = join(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'), '..');
  const file = (name: string) => readFile(join(folder, name));
  const pages = await Promise.all(
    [
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
    ].map(async ({ path, type, content }) => ({ path, type, representation: await represent(content) })),
  );
  for (const { path, type, representation } of pages) {
    const headers = { 'Content-Type': type, 'Cache-Control': 'no-cache', 'Content-Security-Policy': POLICY };
    router.all(path, ctx => sendRepresentation(ctx, representation, headers));
  }
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`);
}
