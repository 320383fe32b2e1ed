import { Unreadable } from '../../upstream-json/fields.ts';

/**
 * The record, if its field `name` is the hash, number or id that was asked for. Whatever stands before an instance may
 * mix up its answers, and one that is right for another question would be kept as the answer to this one.
 * @throws Unreadable
 */
export function mustBe<Name extends string, Item extends { readonly [Key in Name]?: unknown }>(
  asked: string,
  name: Name,
  record: Item,
): Item {
  return mustName(asked, [record[name]], name, record);
}

/** The same of a record that names what was asked for in one of several places; `path` leads to the first of them. */
export function mustName<Item>(asked: string, names: readonly unknown[], path: string, record: Item): Item {
  if (names.some(name => String(name).toLowerCase() === asked.toLowerCase())) return record;
  throw new Unreadable(path, 'is of another record than the one asked for');
}
