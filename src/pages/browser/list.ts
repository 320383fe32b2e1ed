import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Awaited, Empty, type Loading, type Reply, useAnswer } from './answer.ts';

/** One column of a list. */
export interface Column<Item> {
  readonly name: string;
  readonly cell: (item: Item) => ComponentChildren;
  /** Right-aligned. */
  readonly isNumber?: boolean;
}

/** One page of a list; `next` is the cursor of the page after it, undefined or null on the last one. */
export interface ListPage<Item, Cursor> {
  readonly items: readonly Item[];
  readonly next: Cursor | null | undefined;
}

export interface ListProps<Item, Cursor, Body> {
  /** Name of the list, for screen readers. */
  readonly label: string;
  /** Columns of the table, unless `view` shows the items. */
  readonly columns?: readonly Column<Item>[];
  /** Shows the items in another form than a table. */
  readonly view?: (items: readonly Item[]) => ComponentChildren;
  readonly load: (cursor: Cursor | undefined, signal: AbortSignal) => Promise<Reply<Body>>;
  /** `cursor` is the one that the page was loaded by. */
  readonly pageOf: (body: Body, cursor: Cursor | undefined) => ListPage<Item, Cursor>;
  /** Stable identity of an item. */
  readonly keyOf: (item: Item) => string;
  /** What is shown in place of an empty first page. */
  readonly empty: ComponentChildren;
  /** What else `load` reads: the list starts again when one of them changes. */
  readonly inputs?: readonly unknown[];
  /** Renews the first page every so many milliseconds. */
  readonly everyMs?: number;
  /** Stands below the table, and gets the headers of the answer. */
  readonly source?: (headers: Headers) => ComponentChildren;
}

/** A list of the API that pages by cursor: a table, unless `view` says otherwise. */
export function List<Item, Cursor, Body>(props: ListProps<Item, Cursor, Body>): VNode {
  const { label, columns = [], view, load, pageOf, keyOf, empty, inputs = [], everyMs, source } = props;
  const [cursors, setCursors] = useState<readonly Cursor[]>([]);
  useEffect(() => setCursors([]), inputs);
  const cursor = cursors.at(-1);
  const loading: Loading<Body> = useAnswer(signal => load(cursor, signal), [cursor, ...inputs], {
    everyMs: cursor === undefined ? everyMs : undefined,
  });

  return html`<${Awaited} loading=${loading}>${(body: Body, headers: Headers) => {
    const { items, next } = pageOf(body, cursor);
    if (items.length === 0 && cursor === undefined) return html`<${Empty}>${empty}<//>`;
    return html`
      ${
        view === undefined
          ? html`<${Table} label=${label} columns=${columns} items=${items} keyOf=${keyOf} />`
          : view(items)
      }
      ${
        (cursor !== undefined || next != null) &&
        html`<nav class="pager" aria-label=${`Pages of ${label}`}>
          <button type="button" disabled=${cursor === undefined} onClick=${() => setCursors([])}>First</button>
          <button type="button" disabled=${cursor === undefined} onClick=${() => setCursors(cursors.slice(0, -1))}>Previous</button>
          <span>Page ${cursors.length + 1}</span>
          <button type="button" disabled=${next == null} onClick=${() => next != null && setCursors([...cursors, next])}>Next</button>
        </nav>`
      }
      ${source?.(headers)}
    `;
  }}<//>`;
}

/** Items as a table that scrolls sideways by itself where the window is narrow. */
export function Table<Item>({
  label,
  columns,
  items,
  keyOf,
}: {
  label: string;
  columns: readonly Column<Item>[];
  items: readonly Item[];
  keyOf: (item: Item) => string;
}): VNode {
  return html`<div class="table" role="region" aria-label=${label} tabindex="0">
    <table>
      <thead>
        <tr>${columns.map(({ name, isNumber }) => html`<th scope="col" class=${isNumber && 'number'}>${name}</th>`)}</tr>
      </thead>
      <tbody>
        ${items.map(
          item => html`<tr key=${keyOf(item)}>
            ${columns.map(({ cell, isNumber }) => html`<td class=${isNumber && 'number'}>${cell(item)}</td>`)}
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
