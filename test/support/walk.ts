import { expect } from 'vitest';
import type { Client } from './contract-client.ts';

/** A record of an answer with unchecked fields. */
export type Item = Readonly<Record<string, unknown>>;

/**
 * Every item of a list, page by page, by the cursor only or by all keys of `next_page_params`. The query of the path is
 * repeated with each page, because filters must be (Decision 4).
 */
export async function walk(
  client: Client,
  path: string,
  by: 'cursor' | 'keys' = 'cursor',
): Promise<{ items: Item[]; pages: number[] }> {
  const items: Item[] = [];
  const pages: number[] = [];
  let query = '';
  for (let turn = 0; turn < 500; turn += 1) {
    const { status, body } = await client.get(`${path}${query}`);
    expect(status, `${path}${query}`).toBe(200);
    const page = pageOf(body);
    items.push(...page.items);
    pages.push(page.items.length);
    if (page.next === null) return { items, pages };
    const { cursor, ...keys } = page.next;
    query = `${path.includes('?') ? '&' : '?'}${new URLSearchParams(by === 'cursor' ? { cursor: String(cursor) } : textOf(keys))}`;
  }
  throw new Error(`${path} does not end`);
}

export function pageOf(body: unknown): { items: Item[]; next: Item | null } {
  const { items, next_page_params: next } = itemOf(body);
  if (!Array.isArray(items)) throw new Error('not a page');
  return { items: items.map(itemOf), next: next === null ? null : itemOf(next) };
}

export function itemOf(value: unknown): Item {
  if (typeof value !== 'object' || value === null) throw new Error(`not a record: ${String(value)}`);
  return Object.fromEntries(Object.entries(value));
}

function textOf(keys: Item): Record<string, string> {
  return Object.fromEntries(Object.entries(keys).map(([key, value]) => [key, String(value)]));
}
