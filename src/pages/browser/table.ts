import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** Number of columns from which on a row becomes a card in a narrow window. */
const CARDS_FROM = 3;

/**
 * Table of items. In a narrow window its rows are cards with a name and a value per line (Decision 423). The roles are
 * written out, because elements that are no longer displayed as a table lose theirs.
 */
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
  const className = columns.length < CARDS_FROM ? 'table' : 'table cards';
  const region = useRef<HTMLElement>(null);
  useEffect(() => {
    for (const button of region.current?.querySelectorAll<HTMLElement>(COPY) ?? []) button.tabIndex = -1;
  });
  return html`<div
    class=${className}
    role="region"
    aria-label=${label}
    aria-busy=${isBusy}
    tabindex="0"
    ref=${region}
    onKeyDown=${copyFocused}
  >
    <table role="table">
      <thead role="rowgroup">
        <tr role="row">${columns.map(
          ({ name, heading, isNumber }) =>
            html`<th role="columnheader" scope="col" class=${isNumber && 'number'}>${heading ?? name}</th>`,
        )}</tr>
      </thead>
      <tbody role="rowgroup">
        ${items.map(
          item => html`<tr role="row" key=${keyOf(item)}>
            ${columns.map(({ name, cell, isNumber }) => html`<td role="cell" class=${isNumber && 'number'} data-name=${name}>${cell(item)}</td>`)}
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

const COPY = 'td .copy';

/**
 * Copies the value of the focused link at the key C. Copy buttons of a table are out of the tab order, because they
 * would double the stops of a list of fifty.
 */
function copyFocused(event: KeyboardEvent): void {
  if (event.key !== 'c' || event.ctrlKey || event.metaKey || event.altKey) return;
  const { target } = event;
  if (target instanceof HTMLAnchorElement)
    target.closest('.reference')?.querySelector<HTMLElement>('.copy')?.click();
}

/** Column of a list. */
export interface Column<Item> {
  readonly name: string;
  /** Content of the heading in place of the name. */
  readonly heading?: ComponentChildren;
  readonly cell: (item: Item) => ComponentChildren;
  /** Right-aligned. */
  readonly isNumber?: boolean;
}
