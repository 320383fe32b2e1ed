import { type ComponentChildren, render } from 'preact';
import { h } from '#pages/browser/element.ts';
import { confineDirections, ownDirection } from './text-direction.ts';

/** Renders a page into the element that its document provides. */
export function show(Page: () => ComponentChildren): void {
  const place = document.getElementById('page');
  if (place === null) throw new Error('The document has no place for a page.');
  confineDirections();
  place.replaceChildren();
  render(h(Page, {}), place);
}

/** Sets the window title: `Block 12 · tollgate`. */
export function entitle(...parts: readonly string[]): void {
  document.title = [...parts.map(ownDirection), 'tollgate'].join(' · ');
}
