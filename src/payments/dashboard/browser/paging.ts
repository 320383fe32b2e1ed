import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { List, type ListPage, type ListProps } from '#pages/browser/list.ts';

interface NumberedPage<Item> {
  readonly data: readonly Item[];
  readonly has_more: boolean;
}

/** List of document 3. Its pages count from 1. */
export function numberedList<Item>(
  props: Omit<ListProps<Item, number, NumberedPage<Item>>, 'pageOf'>,
): VNode {
  return h(List<Item, number, NumberedPage<Item>>, { ...props, pageOf: nextPage });
}

function nextPage<Item>(
  { data, has_more }: NumberedPage<Item>,
  page: number | undefined = 1,
): ListPage<Item, number> {
  return { items: data, next: has_more ? page + 1 : null };
}

interface CursorPage<Item> {
  readonly data: readonly Item[];
  readonly next_cursor?: string | null;
}

/** List that continues by cursor. */
export function cursorList<Item>(props: Omit<ListProps<Item, string, CursorPage<Item>>, 'pageOf'>): VNode {
  return h(List<Item, string, CursorPage<Item>>, { ...props, pageOf: pageOfCursor });
}

function pageOfCursor<Item>({ data, next_cursor: next }: CursorPage<Item>): ListPage<Item, string> {
  return { items: data, next };
}

/** Parameters of such a page. */
export function cursorQuery(cursor: string | undefined) {
  return { page: 1, limit: PAGE_SIZE, ...(cursor !== undefined && { cursor }) };
}

const PAGE_SIZE = 20;

/** Parameters of such a page. */
export function pageQuery(page: number | undefined = 1): { readonly page: number; readonly limit: number } {
  return { page, limit: PAGE_SIZE };
}
