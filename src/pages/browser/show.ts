import { html, render } from 'htm/preact';
import type { ComponentType } from 'preact';
import { confineDirections, ownDirection } from './text-direction.ts';

/** Renders a page into the element that its document provides. */
export function show(Page: ComponentType): void {
  const place = document.getElementById('page');
  if (place === null) throw new Error('The document has no place for a page.');
  confineDirections();
  place.replaceChildren();
  render(html`<${Page} />`, place);
}

/** Sets the window title: `Block 12 · tollgate`. */
export function entitle(...parts: readonly string[]): void {
  document.title = [...parts.map(ownDirection), 'tollgate'].join(' · ');
}
