import type { Client } from '../support/contract-client.ts';
import { type Item, itemOf, pageOf } from '../support/walk.ts';
import type { ListCase } from './cases.ts';

/** Way to continue a walk: with `cursor` only, with the document's keys and without `cursor`, or with everything. */
export type Way = 'cursor' | 'keys' | 'everything';

export interface Walked {
  readonly items: readonly Item[];
  readonly pages: number;
}

/** Longer than any list here. */
const MAX_PAGES = 40;

/** Every item of a list with its filters. Throws when it does not end. */
export async function walkList(client: Client, { path, query = {} }: ListCase, way: Way): Promise<Walked> {
  const items: Item[] = [];
  let position: Record<string, string> = {};
  for (let pages = 1; pages <= MAX_PAGES; pages += 1) {
    const target = `${path}?${new URLSearchParams({ ...query, ...position })}`;
    const { status, body } = await client.get(target);
    if (status !== 200) throw new Error(`${target} → ${status} ${JSON.stringify(body)}`);
    const page = pageOf(body);
    items.push(...page.items);
    if (page.next === null) return { items, pages };
    position = handedBack(page.next, way);
  }
  throw new Error(`${path} does not end`);
}

function handedBack(next: Item, way: Way): Record<string, string> {
  const { cursor, ...keys } = next;
  if (way === 'cursor') return { cursor: String(cursor) };
  const handed = way === 'everything' ? next : itemOf(keys);
  return Object.fromEntries(Object.entries(handed).map(([name, value]) => [name, String(value)]));
}
