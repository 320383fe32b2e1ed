import { isObject } from '../../lib/json.ts';

/** Object of an API description (OpenAPI 3.1). */
export type Described = Readonly<Record<string, unknown>>;

/** Member of a description as an object; empty when it is none. */
export function part(value: unknown, ...keys: readonly string[]): Described {
  let found = value;
  for (const key of keys) found = isObject(found) ? found[key] : undefined;
  return isObject(found) ? found : {};
}

/** Member as a text; empty when it is none. */
export function words(value: Described, key: string): string {
  const found = value[key];
  return typeof found === 'string' ? found : '';
}

/** Members of a list that are objects. */
export function parts(value: unknown): readonly Described[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Follows a reference within the document: `{ $ref: '#/components/parameters/Cursor' }`. */
export function resolved(document: Described, value: Described): Described {
  const link = words(value, '$ref');
  return link === '' ? value : part(document, ...link.slice(2).split('/'));
}

/** Name of the schema that is referred to; empty for one in place. */
export function schemaName(schema: Described): string {
  return /^#\/components\/schemas\/(.+)$/.exec(words(schema, '$ref'))?.[1] ?? '';
}
