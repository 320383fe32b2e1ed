import type Router from '@koa/router';
import { stringify } from 'yaml';
import { represent } from '../../http/representation.ts';
import { sendRepresentation } from '../../http/send.ts';
import type { JsonObject } from '../contracts/document.ts';
import { mintlifyVariant } from './mintlify.ts';

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

/** The description changes only with a new version of the service; the ETag tells. */
const CACHING = { 'Cache-Control': 'no-cache' };
