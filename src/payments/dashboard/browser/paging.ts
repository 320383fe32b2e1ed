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

const PAGE_SIZE = 20;

/** Parameters of such a page. */
export function pageQuery(page: number | undefined = 1): { readonly page: number; readonly limit: number } {
  return { page, limit: PAGE_SIZE };
}
