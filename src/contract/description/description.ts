import Router from '@koa/router';
import type { Middleware } from 'koa';
import { stringify } from 'yaml';
import { represent } from '../../http/representation.ts';
import { routesOf } from '../../http/routes.ts';
import { sendRepresentation } from '../../http/send.ts';
import type { JsonObject } from '../contracts/document.ts';
import { mintlifyVariant } from './mintlify.ts';

/**
 * Serves a service's description: `GET /openapi.json` and `/openapi.yaml`, and with the query parameter `mintlify`,
 * bare or with any value, the variant for that documentation tool. All four are made once.
 */
export async function description(document: JsonObject, publicUrl: string): Promise<Middleware> {
  const variant = mintlifyVariant(document, publicUrl);
  const [plainJson, plainYaml, variantJson, variantYaml] = await Promise.all(
    [JSON.stringify(document), stringify(document), JSON.stringify(variant), stringify(variant)].map(
      represent,
    ),
  );
  const router = new Router();
  const wantsVariant = (querystring: string) => new URLSearchParams(querystring).has('mintlify');
  router.get('/openapi.json', ctx => {
    const chosen = wantsVariant(ctx.querystring) ? variantJson : plainJson;
    if (chosen !== undefined) sendRepresentation(ctx, chosen, CACHING);
  });
  router.get('/openapi.yaml', ctx => {
    const chosen = wantsVariant(ctx.querystring) ? variantYaml : plainYaml;
    if (chosen !== undefined)
      sendRepresentation(ctx, chosen, { ...CACHING, 'Content-Type': 'application/yaml' });
  });
  return routesOf(router);
}

/** The description changes only with a new version of the service; the ETag tells. */
const CACHING = { 'Cache-Control': 'no-cache' };
