import type { VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { Card, type Tab } from '#pages/browser/layout.ts';
import { List, type ListNews, type ListProps } from '#pages/browser/list.ts';
import { pagePath } from '../api.ts';
import { Source } from '../frame.ts';
import { useActivity, useHead } from '../live/live.ts';
import { includedSince } from '../live/live-state.ts';

/** Keys of `next_page_params`, sent unchanged with the next request. */
export interface RecordCursor {
  readonly cursor: string;
}

interface RecordPage<Item> {
  readonly items: readonly Item[];
  readonly next_page_params: RecordCursor | null;
}

interface RecordListProps<Item>
  extends Omit<ListProps<Item, RecordCursor, RecordPage<Item>>, 'pageOf' | 'source' | 'offer' | 'everyMs'> {
  /** The list grows with blocks of the chain, or with the activity of an address or token. */
  readonly growsWith?: 'blocks' | { readonly kind: 'address' | 'token'; readonly hash: string };
}

/** List of records of document 1, paged by `next_page_params`, with its source below. New ones are offered. */
export function recordList<Item>({ growsWith, ...props }: RecordListProps<Item>): VNode {
  if (growsWith === undefined) return pagedList(props);
  return growsWith === 'blocks'
    ? h(ListOfBlocks<Item>, props)
    : h(ListOfActivity<Item>, { ...props, growsWith });
}

function pagedList<Item>(props: RecordListProps<Item> & { readonly offer?: ListNews | undefined }): VNode {
  return h(List<Item, RecordCursor, RecordPage<Item>>, {
    ...props,
    pageOf: ({ items, next_page_params }) => ({ items, next: next_page_params }),
    source: headers => h(Source, { headers }),
  });
}

function ListOfBlocks<Item>(props: RecordListProps<Item>): VNode {
  const head = useHead(pagePath().chainId);
  const wordsSince = (seen: number) => newsOf((head ?? seen) - seen, 'block');
  return pagedList({ ...props, offer: head === undefined ? undefined : { count: head, wordsSince } });
}

function ListOfActivity<Item>({
  growsWith: { kind, hash },
  ...props
}: RecordListProps<Item> & {
  readonly growsWith: { readonly kind: 'address' | 'token'; readonly hash: string };
}): VNode {
  const { activity } = useActivity(pagePath().chainId, kind, hash);
  const wordsSince = (seen: number) => newsOf(includedSince(activity, seen), 'transaction');
  return pagedList({ ...props, offer: { count: activity.count, wordsSince } });
}

/** `12 new transactions`; undefined for none. */
function newsOf(count: number, name: string): string | undefined {
  return count > 0 ? `${grouped(count)} new ${name}${count === 1 ? '' : 's'}` : undefined;
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
