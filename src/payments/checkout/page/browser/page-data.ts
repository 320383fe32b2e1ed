import { type ComponentChildren, render } from 'preact';
import { h } from '#pages/browser/element.ts';
import { confineDirections } from '#pages/browser/text-direction.ts';
import type { Texts } from '#payments/browser/languages/en.ts';
import { PageTexts } from './texts.ts';

/** Element of a document that the page's components fill, and the data from which the server rendered them. */
function mainOf(document: Document): HTMLElement {
  const main = document.querySelector('main');
  if (main === null) throw new Error('The document has no main part.');
  return main;
}

/** Data of a page. Its script is of the same release, so the type holds. */
export function dataOf<Data>(document: Document): Data {
  return JSON.parse(mainOf(document).dataset.page ?? '');
}

/** Renders a page's components over what the server rendered of them, which keeps the elements. */
export function showOver(content: ComponentChildren, texts: Texts): void {
  confineDirections();
  render(h(PageTexts.Provider, { value: texts, children: content }), mainOf(document));
}
