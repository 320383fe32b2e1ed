import { isObject } from '../../lib/json.ts';

/** JSON as it is parsed. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** The methods an OpenAPI path item may hold. */
export const METHODS: readonly string[] = [
  'get',
  'put',
  'post',
  'delete',
  'patch',
  'head',
  'options',
  'trace',
];

/** The object under `key`, or an empty one. */
export function child(parent: JsonObject, key: string): JsonObject {
  const value = parent[key];
  return isObject(value) ? value : {};
}

/** The list under `key`, or an empty one. */
export function list(parent: JsonObject, key: string): Json[] {
  const value = parent[key];
  return Array.isArray(value) ? value : [];
}

/**
 * Follows a local `$ref` (`#/a/b`), as often as needed; anything else is answered as it is.
 * @throws Error when the reference leads nowhere.
 */
export function resolve(document: JsonObject, value: Json | undefined): JsonObject {
  if (!isObject(value)) return {};
  const ref = value.$ref;
  if (typeof ref !== 'string') return value;
  let target: Json | undefined = document;
  for (const part of ref.slice(2).split('/')) {
    target = isObject(target) ? target[part.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  }
  if (target === undefined) throw new Error(`${ref} does not exist`);
  return resolve(document, target);
}

/** Every operation of a document with its path and method, in the order of the document. */
export function operationsOf(
  document: JsonObject,
): { path: string; method: string; operation: JsonObject }[] {
  return Object.entries(child(document, 'paths')).flatMap(([path, item]) =>
    METHODS.flatMap(method => {
      const operation = isObject(item) ? item[method] : undefined;
      return isObject(operation) ? [{ path, method, operation }] : [];
    }),
  );
}

/** The parameters of one operation, its path's included, references resolved. */
export function parametersOf(document: JsonObject, path: string, operation: JsonObject): JsonObject[] {
  const shared = child(child(document, 'paths'), path);
  return [...list(operation, 'parameters'), ...list(shared, 'parameters')].map(entry =>
    resolve(document, entry),
  );
}

/** A document with `change` applied to every object in it, innermost first. */
export function mapObjects(value: Json, change: (object: JsonObject) => JsonObject): Json {
  if (Array.isArray(value)) return value.map(item => mapObjects(item, change));
  if (!isObject(value)) return value;
  return change(
    Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapObjects(member, change)])),
  );
}

/** A fragment of a document whose references lead into the schema `document` instead of the fragment itself. */
export function pointedAtDocument(schema: Json): Json {
  return mapObjects(schema, object =>
    typeof object.$ref === 'string' ? { ...object, $ref: `document${object.$ref}` } : object,
  );
}

/** A schema whose objects with named properties allow no other ones. */
export function closed(schema: Json): Json {
  return mapObjects(schema, object => {
    const open =
      isObject(object.properties) && object.type !== undefined && object.additionalProperties === undefined;
    return open ? { ...object, additionalProperties: false } : object;
  });
}
