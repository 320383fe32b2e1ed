import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { paths } from '#generated/data-service/types.ts';
import { grouped } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { Card, type Tab } from '#pages/browser/layout.ts';
import { List, type ListNews, type ListProps, type Paging } from '#pages/browser/list.ts';
import { changeAddress, FIRST_PAGE, useAddress } from '#pages/browser/show.ts';
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

type Export = paths['/explorer/export/{list}']['get']['parameters'];
/** A list that can be downloaded, with its parameters. */
type Download = readonly [list: Export['path']['list'], query: NonNullable<Export['query']>];

interface RecordListProps<Item>
  extends Omit<
    ListProps<Item, RecordCursor, RecordPage<Item>>,
    'pageOf' | 'source' | 'paging' | 'aside' | 'offer' | 'everyMs'
  > {
  /** The list grows with blocks of the chain, or with the activity of an address or token. */
  readonly growsWith?: 'blocks' | { readonly kind: 'address' | 'token'; readonly hash: string };
  /** The same list as CSV. */
  readonly download?: Download;
}

/**
 * List of records of document 1, paged by `next_page_params`, with its source below. New ones are offered. The shown
 * page is in the address of the page, so a tab shows one such list.
 */
export function recordList<Item>({ growsWith, ...props }: RecordListProps<Item>): VNode {
  if (growsWith === undefined) return h(PagedList<Item>, props);
  return growsWith === 'blocks'
    ? h(ListOfBlocks<Item>, props)
    : h(ListOfActivity<Item>, { ...props, growsWith });
}

function PagedList<Item>({
  download,
  ...props
}: RecordListProps<Item> & { readonly offer?: ListNews | undefined }): VNode {
  const paging = useAddressPaging();
  return h(List<Item, RecordCursor, RecordPage<Item>>, {
    ...props,
    paging,
    pageOf: ({ items, next_page_params }) => ({ items, next: next_page_params }),
    source: headers => h(Source, { headers }),
    aside: download && h(DownloadLink, { download, label: props.label }),
  });
}

function ListOfBlocks<Item>(props: RecordListProps<Item>): VNode {
  const head = useHead(pagePath().chainId);
  const wordsSince = (seen: number) => newsOf((head ?? seen) - seen, 'block');
  return h(PagedList<Item>, {
    ...props,
    offer: head === undefined ? undefined : { count: head, wordsSince },
  });
}

function ListOfActivity<Item>({
  growsWith: { kind, hash },
  ...props
}: RecordListProps<Item> & {
  readonly growsWith: { readonly kind: 'address' | 'token'; readonly hash: string };
}): VNode {
  const { activity } = useActivity(pagePath().chainId, kind, hash);
  const wordsSince = (seen: number) => newsOf(includedSince(activity, seen), 'transaction');
  return h(PagedList<Item>, { ...props, offer: { count: activity.count, wordsSince } });
}

/** `12 new transactions`; undefined for none. */
function newsOf(count: number, name: string): string | undefined {
  return count > 0 ? `${grouped(count)} new ${name}${count === 1 ? '' : 's'}` : undefined;
}

function DownloadLink({ download: [list, query], label }: { download: Download; label: string }): VNode {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  const title = 'All pages of this list as CSV, at most 10,000 records';
  return html`<a class="button" download title=${title} href=${`/explorer/export/${list}?${parameters}`}
    >Download CSV<span class="visually-hidden"> of ${label}</span></a>`;
}

/** Positions of the pages up to the shown one; null where only a number is known, as after opening a link. */
interface WayBack {
  readonly positions: readonly (RecordCursor | null)[];
}

/**
 * Keeps the shown page in the address (`page=3&cursor=…`), so that a reload and a link show the same. The way back is
 * in the history entry, because a cursor leads only forward (Decision 425).
 */
function useAddressPaging(): Paging<RecordCursor> {
  const address = useAddress();
  const cursor = address.get('cursor');
  const first = () => changeAddress(FIRST_PAGE);
  if (cursor === null)
    return { number: 1, cursor: undefined, first, previous: undefined, next: c => go([c]) };
  const number = Math.max(2, Math.trunc(Number(address.get('page'))) || 2);
  const positions = positionsOf(history.state, { cursor }, number);
  const before = positions.slice(0, -1);
  const previous = before.length === 0 ? first : before.at(-1) === null ? undefined : () => go(before);
  return {
    number,
    cursor: positions.at(-1) ?? { cursor },
    first,
    previous,
    next: c => go([...positions, c]),
  };
}

/** Shows the page that these positions lead to. */
function go(positions: WayBack['positions']): void {
  const cursor = positions.at(-1)?.cursor;
  changeAddress({ page: String(positions.length + 1), cursor }, { positions } satisfies WayBack);
}

function positionsOf(state: unknown, shown: RecordCursor, number: number): WayBack['positions'] {
  if (isWayBack(state) && state.positions.at(-1)?.cursor === shown.cursor) return state.positions;
  return [...Array.from({ length: Math.min(number, MOST_PAGES) - 2 }, () => null), shown];
}

/** Longest way back that an address can ask for. */
const MOST_PAGES = 10_000;

/** Entries of the history are our own. */
function isWayBack(state: unknown): state is WayBack {
  return (
    typeof state === 'object' && state !== null && 'positions' in state && Array.isArray(state.positions)
  );
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
