import { isObject } from '../../lib/json.ts';
import { child, type Json, type JsonObject, list, METHODS } from '../contracts/document.ts';

/** Keys whose values are data, not parts of a description. */
const DATA = new Set(['example', 'examples', 'enum', 'const', 'default']);

/**
 * Copies a description for clients: with the absolute address of the service and each operation's permission as text,
 * without our own extensions.
 */
export function publicDocument(document: JsonObject, publicUrl: string): JsonObject {
  const paths = Object.entries(child(document, 'paths')).map(([path, item]): [string, Json] => [
    path,
    isObject(item) ? withPermissions(document, item) : item,
  ]);
  const described = withoutExtensions({ ...document, paths: Object.fromEntries(paths) }, false);
  return {
    ...(isObject(described) ? described : {}),
    servers: [
      { url: publicUrl.replace(/\/$/, ''), description: 'The service that serves this description.' },
    ],
  };
}

function withPermissions(document: JsonObject, item: JsonObject): JsonObject {
  if (Object.keys(child(child(document, 'components'), 'securitySchemes')).length === 0) return item;
  return Object.fromEntries(
    Object.entries(item).map(([key, value]) => [
      key,
      METHODS.includes(key) && isObject(value) ? withPermission(document, value) : value,
    ]),
  );
}

function withPermission(document: JsonObject, operation: JsonObject): JsonObject {
  const [requirement] = list('security' in operation ? operation : document, 'security');
  const [roles] = isObject(requirement) ? Object.values(requirement) : [];
  const [role] = Array.isArray(roles) ? roles : [];
  const key = role === undefined ? 'Needs a key.' : `Needs a key with the permission \`${role}\`.`;
  const sentence = requirement === undefined ? 'Needs no key.' : key;
  const described = [operation.description, sentence].filter(text => text !== undefined);
  return { ...operation, description: described.join('\n\n') };
}

/** Removes our own `x-` keys. Members of `properties` stay, because there a key is the name of a field. */
function withoutExtensions(value: Json, isNamed: boolean): Json {
  if (Array.isArray(value)) return value.map(item => withoutExtensions(item, false));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => isNamed || !key.startsWith('x-'));
  return Object.fromEntries(
    kept.map(([key, member]) => [
      key,
      DATA.has(key) && !isNamed ? member : withoutExtensions(member, key === 'properties' && !isNamed),
    ]),
  );
}
