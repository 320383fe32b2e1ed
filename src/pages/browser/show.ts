import { type ComponentChildren, render } from 'preact';
import { h } from '#pages/browser/element.ts';
import { confineDirections, ownDirection } from './text-direction.ts';

/** Renders a page into the element that its document provides. */
export function show(Page: () => ComponentChildren): void {
  const element = document.getElementById('page');
  if (element === null) throw new Error('The document has no element for a page.');
  confineDirections();
  element.replaceChildren();
  render(h(Page, {}), element);
}

/** Sets the window title: `Block 12 · tollgate`. */
export function setTitle(...parts: readonly string[]): void {
  document.title = [...parts.map(ownDirection), 'tollgate'].join(' · ');
}
