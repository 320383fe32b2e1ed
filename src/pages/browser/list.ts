import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { h } from '#pages/browser/element.ts';
import { Awaited, Empty, type Loading, type Reply, useAnswer } from './answer.ts';
import { type Column, Table } from './table.ts';

/** Page of a list. `next` is the cursor of the following page, undefined or null on the last one. */
export interface ListPage<Item, Cursor> {
  readonly items: readonly Item[];
  readonly next: Cursor | null | undefined;
}

export interface ListProps<Item, Cursor, Body> {
  /** Name of the list, for screen readers. */
  readonly label: string;
  /** Columns of the table, unless `view` shows the items. */
  readonly columns?: readonly Column<Item>[];
  /** Displays the items in a form other than a table. */
  readonly view?: (items: readonly Item[]) => ComponentChildren;
  readonly load: (cursor: Cursor | undefined, signal: AbortSignal) => Promise<Reply<Body>>;
  /** Extracts a page from a response body. `cursor` is the one that the page was loaded with. */
  readonly pageOf: (body: Body, cursor: Cursor | undefined) => ListPage<Item, Cursor>;
  /** Stable identity of an item. */
  readonly keyOf: (item: Item) => string;
  /** Content shown instead of an empty first page. */
  readonly empty: ComponentChildren;
  /** Other inputs of `load`: the list restarts when one of them changes. */
  readonly inputs?: readonly unknown[];
  /** Interval in milliseconds at which the first page is reloaded. */
  readonly everyMs?: number | undefined;
  /** Reloads the first page when it changes. */
  readonly version?: unknown;
  /** News that the reader may load, instead of rows that move while they are read. */
  readonly offer?: ListNews | undefined;
  /** Content below the table, built from the response headers. */
  readonly source?: (headers: Headers) => ComponentChildren;
  /** Content next to the pager, such as a download. */
  readonly aside?: ComponentChildren;
  /** The shown page, kept outside of the list; in the list itself when absent. */
  readonly paging?: Paging<Cursor> | undefined;
}

/** News of a list. An empty list loads them by itself. */
export interface ListNews {
  /** Grows with each piece of news. */
  readonly count: number;
  /** Names the news since an earlier count: "12 new transactions". Undefined when there is none. */
  readonly wordsSince: (count: number) => string | undefined;
}

/** The page of a list that is wanted, and the ways to other pages. */
export interface Paging<Cursor> {
  /** Counts from 1. */
  readonly number: number;
  /** Undefined on the first page. */
  readonly cursor: Cursor | undefined;
  readonly first: () => void;
  /** Undefined when the way back is not known, and on the first page. */
  readonly previous: (() => void) | undefined;
  readonly next: (cursor: Cursor) => void;
}

/** Response with the page that it shows. */
interface Shown<Cursor, Body> {
  readonly body: Body;
  readonly number: number;
  readonly cursor: Cursor | undefined;
}

/**
 * List of the API with cursor pagination, shown as a table or by `view`. A page stays, marked as busy, until the next
 * one is loaded.
 */
export function List<Item, Cursor, Body>(props: ListProps<Item, Cursor, Body>): VNode {
  const { label, columns = [], view, load, pageOf, keyOf, empty, inputs = [], source, aside, offer } = props;
  const own = useOwnPaging<Cursor>(inputs);
  const paging = props.paging ?? own;
  const { number, cursor: wanted } = paging;
  const [isEmpty, setEmpty] = useState(false);
  const loading: Loading<Shown<Cursor, Body>> = useAnswer(
    async signal => {
      const { data, ...reply } = await load(wanted, signal);
      return data === undefined ? reply : { ...reply, data: { body: data, number, cursor: wanted } };
    },
    inputs,
    {
      step: number,
      ...(wanted === undefined && {
        everyMs: props.everyMs,
        version: isEmpty ? offer?.count : props.version,
      }),
    },
  );
  const { answer } = loading;
  useEffect(() => {
    if (answer === undefined) return;
    setEmpty(answer.data.cursor === undefined && pageOf(answer.data.body, undefined).items.length === 0);
  }, [answer]);

  return h(Awaited<Shown<Cursor, Body>>, {
    loading,
    children: (shown, headers) => {
      const { cursor } = shown;
      const isBusy = shown.number !== number && loading.problem === undefined;
      const { items, next } = pageOf(shown.body, cursor);
      if (items.length === 0 && cursor === undefined) return h(Empty, { children: empty });
      return html`
        ${
          offer !== undefined &&
          h(News, {
            offer,
            of: answer,
            load: () => {
              if (number > 1) paging.first();
              loading.reload();
            },
          })
        }
        ${view === undefined ? h(Table<Item>, { label, columns, items, keyOf, isBusy }) : view(items)}
        <div class="below">
          ${(cursor !== undefined || next != null) && h(Pager<Cursor>, { label, paging, shown: shown.number, next, isBusy })}
          ${aside}
        </div>
        ${source?.(headers)}
      `;
    },
  });
}

/** Offers what is new since the shown answer `of` was loaded. Its place is always there, so that rows do not move. */
function News({ offer, of, load }: { offer: ListNews; of: unknown; load: () => void }): VNode {
  const [seen, setSeen] = useState(offer.count);
  useEffect(() => setSeen(offer.count), [of]);
  const words = offer.wordsSince(seen);
  return html`<div class="news" role="status">
    ${words !== undefined && html`<button type="button" onClick=${load}>${words}</button>`}
  </div>`;
}

function Pager<Cursor>({
  label,
  paging: { first, previous, next: go },
  shown,
  next,
  isBusy,
}: {
  label: string;
  paging: Paging<Cursor>;
  /** Number of the shown page. */
  shown: number;
  next: Cursor | null | undefined;
  isBusy: boolean;
}): VNode {
  return html`<nav class="pager" aria-label=${`Pages of ${label}`} aria-busy=${isBusy}>
    ${h(PagerButton, { isOff: shown === 1, onClick: first, children: 'First' })}
    ${h(PagerButton, { isOff: isBusy || previous === undefined, onClick: () => previous?.(), children: 'Previous' })}
    <span>Page ${shown}</span>
    ${h(PagerButton, { isOff: isBusy || next == null, onClick: () => next != null && go(next), children: 'Next' })}
  </nav>`;
}

/** Keeps the shown page in the component. It starts over when one of `inputs` changes. */
function useOwnPaging<Cursor>(inputs: readonly unknown[]): Paging<Cursor> {
  const [cursors, setCursors] = useState<readonly Cursor[]>([]);
  useEffect(() => setCursors([]), inputs);
  return {
    number: cursors.length + 1,
    cursor: cursors.at(-1),
    first: () => setCursors([]),
    previous: cursors.length === 0 ? undefined : () => setCursors(cursors.slice(0, -1)),
    next: cursor => setCursors([...cursors, cursor]),
  };
}

/** Pager button that keeps the focus when it is off, as on the last page; a disabled button would lose it. */
function PagerButton({
  isOff,
  onClick,
  children,
}: {
  isOff: boolean;
  onClick: () => void;
  children: ComponentChildren;
}): VNode {
  return html`<button type="button" aria-disabled=${isOff} onClick=${() => isOff || onClick()}>${children}</button>`;
}
