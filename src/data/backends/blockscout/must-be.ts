import { Unreadable } from '../../upstream/fields.ts';

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
  if (String(record[name]).toLowerCase() === asked.toLowerCase()) return record;
  throw new Unreadable(name, 'is of another record than the one asked for');
}
