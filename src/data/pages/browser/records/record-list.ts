import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { Card, type Tab } from '#pages/browser/layout.ts';
import { List, type ListProps } from '#pages/browser/list.ts';
import { Source } from '../frame.ts';

/** Keys of `next_page_params`, which go into the next request as they are. */
export interface RecordCursor {
  readonly cursor: string;
}

interface RecordPage<Item> {
  readonly items: readonly Item[];
  readonly next_page_params: RecordCursor | null;
}

/** A list of the explorer's API: pages by `next_page_params`, and says below where it is from. */
export function recordList<Item>(
  props: Omit<ListProps<Item, RecordCursor, RecordPage<Item>>, 'pageOf' | 'source'>,
): VNode {
  return html`<${List}
    ...${props}
    pageOf=${({ items, next_page_params }: RecordPage<Item>) => ({ items, next: next_page_params })}
    source=${(headers: Headers) => html`<${Source} headers=${headers} />`}
  />`;
}

/** Parameters of a page of a chain's list. The whole position goes back, so that another back end can go on, too. */
export function pageQuery(
  chainId: number,
  position: RecordCursor | undefined,
): { chain_id: number; cursor?: string } {
  return { chain_id: chainId, ...position };
}

/** A tab that is one list of the explorer's API. */
export function recordTab<Item>(
  { id, label }: Pick<Tab, 'id' | 'label'>,
  props: Parameters<typeof recordList<Item>>[0],
): Tab {
  return { id, label, content: () => html`<${Card}>${recordList(props)}<//>` };
}
