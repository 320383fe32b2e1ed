import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';

/** Table of items that scrolls sideways by itself in a narrow window. */
export function Table<Item>({
  label,
  columns,
  items,
  keyOf,
  isBusy = false,
}: {
  label: string;
  columns: readonly Column<Item>[];
  items: readonly Item[];
  keyOf: (item: Item) => string;
  /** True while other items are being loaded. */
  isBusy?: boolean;
}): VNode {
  return html`<div class="table" role="region" aria-label=${label} aria-busy=${isBusy} tabindex="0">
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

/** Column of a list. */
export interface Column<Item> {
  readonly name: string;
  readonly cell: (item: Item) => ComponentChildren;
  /** Right-aligned. */
  readonly isNumber?: boolean;
}
