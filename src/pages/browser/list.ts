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
}

/** News of a list. An empty list loads them by itself. */
export interface ListNews {
  /** Grows with each piece of news. */
  readonly count: number;
  /** Names the news since an earlier count: "12 new transactions". Undefined when there is none. */
  readonly wordsSince: (count: number) => string | undefined;
}

/** Response with the cursors that led to it. */
interface Shown<Cursor, Body> {
  readonly body: Body;
  readonly cursors: readonly Cursor[];
}

/**
 * List of the API with cursor pagination, shown as a table or by `view`. A page stays, marked as busy, until the next
 * one is loaded.
 */
export function List<Item, Cursor, Body>(props: ListProps<Item, Cursor, Body>): VNode {
  const { label, columns = [], view, load, pageOf, keyOf, empty, inputs = [], source, offer } = props;
  const [cursors, setCursors] = useState<readonly Cursor[]>([]);
  useEffect(() => setCursors([]), inputs);
  const wanted = cursors.at(-1);
  const [isEmpty, setEmpty] = useState(false);
  const loading: Loading<Shown<Cursor, Body>> = useAnswer(
    async signal => {
      const { data, ...reply } = await load(wanted, signal);
      return data === undefined ? reply : { ...reply, data: { body: data, cursors } };
    },
    inputs,
    {
      step: wanted,
      ...(wanted === undefined && {
        everyMs: props.everyMs,
        version: isEmpty ? offer?.count : props.version,
      }),
    },
  );
  const { answer } = loading;
  useEffect(() => {
    if (answer === undefined) return;
    setEmpty(answer.data.cursors.length === 0 && pageOf(answer.data.body, undefined).items.length === 0);
  }, [answer]);

  return h(Awaited<Shown<Cursor, Body>>, {
    loading,
    children: (shown, headers) => {
      const cursor = shown.cursors.at(-1);
      const isBusy = cursor !== wanted && loading.problem === undefined;
      const { items, next } = pageOf(shown.body, cursor);
      if (items.length === 0 && cursor === undefined) return h(Empty, { children: empty });
      return html`
        ${
          offer !== undefined &&
          h(News, {
            offer,
            of: answer,
            load: () => {
              setCursors([]);
              loading.reload();
            },
          })
        }
        ${view === undefined ? h(Table<Item>, { label, columns, items, keyOf, isBusy }) : view(items)}
        ${
          (cursor !== undefined || next != null) &&
          html`<nav class="pager" aria-label=${`Pages of ${label}`} aria-busy=${isBusy}>
            ${h(PagerButton, {
              isOff: cursor === undefined,
              onClick: () => setCursors([]),
              children: 'First',
            })}
            ${h(PagerButton, {
              isOff: cursor === undefined,
              onClick: () => setCursors(shown.cursors.slice(0, -1)),
              children: 'Previous',
            })}
            <span>Page ${shown.cursors.length + 1}</span>
            ${h(PagerButton, {
              isOff: next == null,
              onClick: () => next != null && setCursors([...shown.cursors, next]),
              children: 'Next',
            })}
          </nav>`
        }
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
