import { fieldsOf, listOf, UnreadableRecord } from '#data/backends/upstream-json/fields.ts';

/** Names and tags of addresses that came only with releases 5.4 and 6.6. */
const NEWER_FIELDS = new Set(['ens_domain_name', 'metadata']);

/** Items of a page or of a bare list, as upstream sent them. */
export function itemsOf(body: unknown): readonly unknown[] {
  return Array.isArray(body) ? body : listOf(fieldsOf(body).items);
}

/** The record without the address fields that the oldest generations lack. */
export function withoutNewerFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNewerFields);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !NEWER_FIELDS.has(name))
      .map(([name, inner]) => [name, withoutNewerFields(inner)]),
  );
}

/** Path of the unreadable value; `null` when everything is readable. */
export function unreadable(read: () => unknown): string | null {
  try {
    read();
    return null;
  } catch (error) {
    if (error instanceof UnreadableRecord) return error.path;
    throw error;
  }
}
