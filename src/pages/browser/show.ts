import { html, render } from 'htm/preact';
import type { ComponentType } from 'preact';

/** Shows a page in the place that its document leaves for it, and names it in the window's title. */
export function show(Page: ComponentType): void {
  const place = document.getElementById('page');
  if (place === null) throw new Error('The document has no place for a page.');
  place.replaceChildren();
  render(html`<${Page} />`, place);
}

/** Sets the title of the window: `Block 12 · tollgate`. */
export function entitle(...parts: readonly string[]): void {
  document.title = [...parts, 'tollgate'].join(' · ');
}
