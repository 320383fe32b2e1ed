import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { addressWith, changeAddress, OTHER_TAB, useAddress } from './show.ts';

/** Section of a page with its own heading. */
export function Card({
  title,
  children,
  aside,
}: {
  title?: ComponentChildren;
  children?: ComponentChildren;
  aside?: ComponentChildren;
}): VNode {
  return html`<section class="card">
    ${(title || aside) && html`<header><h2>${title}</h2>${aside}</header>`}
    ${children}
  </section>`;
}

/** Row of a list of names and values. */
export type Fact = readonly [name: string, value: ComponentChildren];

/** List of names and values. Rows with null, undefined or false are omitted. */
export function Facts({ rows }: { rows: readonly Fact[] }): VNode {
  return html`<dl class="facts">
    ${rows
      .filter(([, value]) => value !== null && value !== undefined && value !== false)
      .map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}

/** Colour of a badge. The text conveys the same information. */
export type Tone = 'good' | 'bad' | 'warning' | 'busy' | 'plain';

export function Badge({
  tone = 'plain',
  title,
  children,
}: {
  tone?: Tone;
  /** Explanation that a pointer shows. */
  title?: string;
  children: ComponentChildren;
}): VNode {
  return html`<span class=${`badge ${tone}`} title=${title}>${children}</span>`;
}

/** Tab: its name in the address, its label, and its content, created when shown. */
export interface Tab {
  readonly id: string;
  readonly label: ComponentChildren;
  readonly content: () => ComponentChildren;
}

/** Tabs of a page. The open tab is in the address (`?tab=logs`), so that it can be linked and Back returns to it. */
export function Tabs({
  label,
  tabs,
  opening,
}: {
  label: string;
  tabs: readonly Tab[];
  /** Tab that is open without one in the address; the first when absent. */
  opening?: string | undefined;
}): VNode {
  const open = useAddress().get('tab') ?? opening;
  const current = tabs.find(({ id }) => id === open) ?? tabs[0];
  const choose = (event: MouseEvent, id: string) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    changeAddress({ ...OTHER_TAB, tab: id });
  };
  const bar = useRef<HTMLElement>(null);
  useEffect(() => reveal(bar.current), [current?.id]);
  return html`
    <nav class="tabs" aria-label=${label} ref=${bar}>
      ${tabs.map(
        ({ id, label: text }) => html`<a
          href=${addressWith({ ...OTHER_TAB, tab: id })}
          aria-current=${id === current?.id ? 'page' : undefined}
          onClick=${(event: MouseEvent) => choose(event, id)}
        >${text}</a>`,
      )}
    </nav>
    <div key=${current?.id}>${current?.content()}</div>
  `;
}

/** Scrolls the bar sideways until the open tab is visible. */
export function reveal(bar: HTMLElement | null): void {
  const tab = bar?.querySelector('[aria-current]');
  if (bar === null || tab === null || tab === undefined) return;
  const [outer, inner] = [bar.getBoundingClientRect(), tab.getBoundingClientRect()];
  if (inner.left < outer.left || inner.right > outer.right) bar.scrollLeft += inner.left - outer.left;
}
