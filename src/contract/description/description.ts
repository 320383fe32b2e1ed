import { stringify } from 'yaml';
import { type Representation, represent } from '../../http/representation.ts';
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
