import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { List, type ListProps } from '#pages/browser/list.ts';
import { Source } from '../frame.ts';

interface RecordPage<Item, Cursor> {
  readonly items: readonly Item[];
  readonly next_page_params: Cursor | null;
}

/** A list of the explorer's API: pages by `next_page_params`, and says below where it is from. */
export function recordList<Item, Cursor>(
  props: Omit<ListProps<Item, Cursor, RecordPage<Item, Cursor>>, 'pageOf' | 'source'>,
): VNode {
  return html`<${List}
    ...${props}
    pageOf=${({ items, next_page_params }: RecordPage<Item, Cursor>) => ({ items, next: next_page_params })}
    source=${(headers: Headers) => html`<${Source} headers=${headers} />`}
  />`;
}

/** Parameters of a page of a chain's list. A position is opaque and enough on its own. */
export function pageQuery(
  chainId: number,
  position: { readonly cursor: string } | undefined,
): { chain_id: number; cursor?: string } {
  return { chain_id: chainId, ...(position && { cursor: position.cursor }) };
}
