import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** A part of a page with a heading of its own. */
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

/** Names and values. A value that is null, undefined or false leaves its row out. */
export function Facts({
  rows,
}: {
  rows: readonly (readonly [name: string, value: ComponentChildren])[];
}): VNode {
  return html`<dl class="facts">
    ${rows
      .filter(([, value]) => value !== null && value !== undefined && value !== false)
      .map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}

/** How a badge is coloured; the text says the same. */
export type Tone = 'good' | 'bad' | 'warning' | 'busy' | 'plain';

export function Badge({ tone = 'plain', children }: { tone?: Tone; children: ComponentChildren }): VNode {
  return html`<span class=${`badge ${tone}`}>${children}</span>`;
}

/** One tab: its name in the address, its label, and its content, made when it is shown. */
export interface Tab {
  readonly id: string;
  readonly label: ComponentChildren;
  readonly content: () => ComponentChildren;
}

/** Tabs of a page. The one that is open is part of the address (`?tab=logs`), so that a link leads to it. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }): VNode {
  const [open, setOpen] = useState(new URLSearchParams(location.search).get('tab'));
  const current = tabs.find(({ id }) => id === open) ?? tabs[0];
  const choose = (event: MouseEvent, id: string) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    history.replaceState(null, '', addressOf(id));
    setOpen(id);
  };
  const bar = useRef<HTMLElement>(null);
  useEffect(() => reveal(bar.current), [current?.id]);
  return html`
    <nav class="tabs" aria-label=${label} ref=${bar}>
      ${tabs.map(
        ({ id, label: text }) => html`<a
          href=${addressOf(id)}
          aria-current=${id === current?.id ? 'page' : undefined}
          onClick=${(event: MouseEvent) => choose(event, id)}
        >${text}</a>`,
      )}
    </nav>
    <div key=${current?.id}>${current?.content()}</div>
  `;
}

/** Scrolls the open tab into the bar, sideways only. */
function reveal(bar: HTMLElement | null): void {
  const tab = bar?.querySelector('[aria-current]');
  if (bar === null || tab === null || tab === undefined) return;
  const [outer, inner] = [bar.getBoundingClientRect(), tab.getBoundingClientRect()];
  if (inner.left < outer.left || inner.right > outer.right) bar.scrollLeft += inner.left - outer.left;
}

function addressOf(tab: string): string {
  const parameters = new URLSearchParams(location.search);
  parameters.set('tab', tab);
  return `?${parameters}`;
}
