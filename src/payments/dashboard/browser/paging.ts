import type { ListPage } from '#pages/browser/list.ts';

/** Reads a page of a list of document 3. Pages count from 1. */
export function nextPage<Item>(
  { data, has_more }: { readonly data: readonly Item[]; readonly has_more: boolean },
  page: number | undefined = 1,
): ListPage<Item, number> {
  return { items: data, next: has_more ? page + 1 : null };
}

const PAGE_SIZE = 20;

/** Parameters of such a page. */
export function pageQuery(page: number | undefined = 1): { readonly page: number; readonly limit: number } {
  return { page, limit: PAGE_SIZE };
}
