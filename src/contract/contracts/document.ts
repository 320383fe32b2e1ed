import { isObject } from '../../lib/json.ts';

/** Parsed JSON. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** Methods of an OpenAPI path item. */
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

/** Object under `key`, or an empty one. */
export function child(parent: JsonObject, key: string): JsonObject {
  const value = parent[key];
  return isObject(value) ? value : {};
}

/** List under `key`, or an empty one. */
export function list(parent: JsonObject, key: string): Json[] {
  const value = parent[key];
  return Array.isArray(value) ? value : [];
}

/**
 * Follows a local `$ref` (`#/a/b`), repeatedly if needed. Other values are returned unchanged.
 * @throws Error when the reference does not exist.
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

/** All operations of a document with path and method, in document order. */
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

/** Parameters of an operation, including its path's, with references resolved. */
export function parametersOf(document: JsonObject, path: string, operation: JsonObject): JsonObject[] {
  const shared = child(child(document, 'paths'), path);
  return [...list(operation, 'parameters'), ...list(shared, 'parameters')].map(entry =>
    resolve(document, entry),
  );
}

/** Applies `change` to every object in a document, innermost first. */
export function mapObjects(value: Json, change: (object: JsonObject) => JsonObject): Json {
  if (Array.isArray(value)) return value.map(item => mapObjects(item, change));
  if (!isObject(value)) return value;
  return change(
    Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapObjects(member, change)])),
  );
}

/** Redirects the references of a fragment to the schema `document`. */
export function pointedAtDocument(schema: Json): Json {
  return mapObjects(schema, object =>
    typeof object.$ref === 'string' ? { ...object, $ref: `document${object.$ref}` } : object,
  );
}

/** Forbids undeclared properties in every object schema with named properties. */
export function closed(schema: Json): Json {
  return mapObjects(schema, object => {
    const open =
      isObject(object.properties) && object.type !== undefined && object.additionalProperties === undefined;
    return open ? { ...object, additionalProperties: false } : object;
  });
}
