import { isObject } from '../../lib/json.ts';
import { child, type Json, type JsonObject, list, mapObjects, operationsOf } from '../contracts/document.ts';
import { codeSamples } from './code-samples.ts';
import { publicDocument } from './public-document.ts';

/**
 * Copies a description for the documentation tool Mintlify: absolute server, code samples, page settings, and schemas
 * without constructs that its renderer shows as "any". The contract's meaning does not change.
 */
export function mintlifyVariant(contract: JsonObject, publicUrl: string): JsonObject {
  const document = publicDocument(contract, publicUrl);
  const address = publicUrl.replace(/\/$/, '');
  const summaries = uniqueSummaries(document);
  const paths: JsonObject = {};
  for (const { path, method, operation } of operationsOf(document)) {
    const id = String(operation.operationId);
    const summary = summaries.get(id) ?? id;
    paths[path] = {
      ...child(child(document, 'paths'), path),
      ...child(paths, path),
      [method]: {
        ...operation,
        summary,
        'x-codeSamples': codeSamples(document, { path, method, operation }, address),
        'x-mint': mintSettings(document, { method, operation, summary }),
      },
    };
  }
  const plain = mapObjects({ ...document, paths }, plainSchema);
  return {
    ...(isObject(plain) ? plain : {}),
    tags: list(document, 'tags').map(tag => taggedForDisplay(document, tag)),
    'x-tagGroups': [{ name: title(document), tags: list(document, 'tags').map(tagName) }],
    ...securityWithPlaceholders(plain),
  };
}

function title(document: JsonObject): string {
  return String(child(document, 'info').title ?? 'API');
}

function tagName(tag: Json): string {
  return isObject(tag) ? String(tag.name) : '';
}

/** Makes summaries unique per tag, because Mintlify derives page addresses from tag and summary. */
function uniqueSummaries(document: JsonObject): Map<string, string> {
  const seen = new Map<string, number>();
  return new Map(
    operationsOf(document).map(({ operation }) => {
      const summary = String(operation.summary ?? operation.operationId);
      const key = `${list(operation, 'tags')[0] ?? ''} ${summary}`;
      const count = (seen.get(key) ?? 0) + 1;
      seen.set(key, count);
      return [String(operation.operationId), count === 1 ? summary : `${summary} (${count})`];
    }),
  );
}

function mintSettings(
  document: JsonObject,
  { method, operation, summary }: { method: string; operation: JsonObject; summary: string },
): Json {
  const id = kebab(String(operation.operationId));
  return {
    metadata: {
      title: summary,
      sidebarTitle: summary,
      description: String(operation.description ?? summary).split('\n')[0] ?? summary,
      playground: 'interactive',
    },
    href: `/api-reference/${kebab(String(list(operation, 'tags')[0] ?? title(document)))}/${id}`,
    mcp: { enabled: method === 'get', name: id },
  };
}

function kebab(text: string): string {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/[^A-Za-z0-9]+/g, '-')
    .toLowerCase();
}

/** Replaces newer JSON Schema keywords, which the renderer would show as "any". */
function plainSchema(schema: JsonObject): JsonObject {
  const { unevaluatedProperties: _, ...rest } = schema;
  if ('const' in rest && rest.type === undefined && !isObject(rest.const)) {
    const { const: value = null, ...others } = rest;
    return { ...others, type: value === null ? 'null' : typeof value, enum: [value] };
  }
  if (Array.isArray(rest.prefixItems)) {
    const { prefixItems, ...others } = rest;
    return {
      ...others,
      items: { anyOf: prefixItems },
      minItems: prefixItems.length,
      maxItems: prefixItems.length,
    };
  }
  return rest;
}

function taggedForDisplay(document: JsonObject, tag: Json): Json {
  return isObject(tag) ? { ...tag, 'x-group': title(document), 'x-displayName': tagName(tag) } : tag;
}

function securityWithPlaceholders(document: Json): JsonObject {
  if (!isObject(document)) return {};
  const components = child(document, 'components');
  if (!isObject(components.securitySchemes)) return {};
  const securitySchemes = Object.fromEntries(
    Object.entries(components.securitySchemes).map(([name, scheme]) => [
      name,
      isObject(scheme) ? { ...scheme, 'x-default': 'YOUR_KEY' } : scheme,
    ]),
  );
  return { components: { ...components, securitySchemes } };
}
