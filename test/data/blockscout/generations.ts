import { fieldsOf, listOf, Unreadable } from '#data/backends/upstream-json/fields.ts';

/** What names and tags of addresses came only with releases 5.4 and 6.6. */
const NEWER_FIELDS = new Set(['ens_domain_name', 'metadata']);

/** The items of a page, or of a bare list, as upstream sent them. */
export function itemsOf(body: unknown): readonly unknown[] {
  return Array.isArray(body) ? body : listOf(fieldsOf(body).items);
}

/** The record without what the oldest generations cannot know of its addresses. */
export function withoutNewerFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNewerFields);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !NEWER_FIELDS.has(name))
      .map(([name, inner]) => [name, withoutNewerFields(inner)]),
  );
}

/** The path at which something is unreadable; `null` if it is not. */
export function unreadable(read: () => unknown): string | null {
  try {
    read();
    return null;
  } catch (error) {
    if (error instanceof Unreadable) return error.path;
    throw error;
  }
}
