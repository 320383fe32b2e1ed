import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { Card, type Tab } from '#pages/browser/layout.ts';
import { List, type ListProps } from '#pages/browser/list.ts';
import { Source } from '../frame.ts';

/** Keys of `next_page_params`, sent unchanged with the next request. */
export interface RecordCursor {
  readonly cursor: string;
}

interface RecordPage<Item> {
  readonly items: readonly Item[];
  readonly next_page_params: RecordCursor | null;
}

/** List of records of document 1, paged by `next_page_params`, with its source below. */
export function recordList<Item>(
  props: Omit<ListProps<Item, RecordCursor, RecordPage<Item>>, 'pageOf' | 'source'>,
): VNode {
  return h(List<Item, RecordCursor, RecordPage<Item>>, {
    ...props,
    pageOf: ({ items, next_page_params }) => ({ items, next: next_page_params }),
    source: headers => h(Source, { headers }),
  });
}

/**
 * Parameters of one page of a chain's list. All keys of the position are sent, so that another back end can continue.
 */
export function pageQuery(
  chainId: number,
  position: RecordCursor | undefined,
): { chain_id: number; cursor?: string } {
  return { chain_id: chainId, ...position };
}

/** Tab with one list of document 1. */
export function recordTab<Item>(
  { id, label }: Pick<Tab, 'id' | 'label'>,
  props: Parameters<typeof recordList<Item>>[0],
): Tab {
  return { id, label, content: () => h(Card, { children: recordList(props) }) };
}
