import { type ComponentChildren, render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
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

/** Parameters of the page's address; undefined removes one. */
export type AddressChange = Readonly<Record<string, string | undefined>>;

/** Parameters that belong to the list of a tab. Another tab begins without them. */
const OF_LIST = ['page', 'cursor', 'direction', 'standard', 'token', 'type', 'sort'] as const;
/** Parameters of the first page of a list. */
export const FIRST_PAGE: AddressChange = { page: undefined, cursor: undefined };
/** Parameters of another tab. */
export const OTHER_TAB: AddressChange = Object.fromEntries(OF_LIST.map(name => [name, undefined]));

const addressChanges = new EventTarget();

/** Parameters of the page's address. A component that uses them follows `changeAddress`, Back and Forward. */
export function useAddress(): URLSearchParams {
  const [search, setSearch] = useState(() => location.search);
  useEffect(() => {
    const follow = () => setSearch(location.search);
    follow();
    addEventListener('popstate', follow);
    addressChanges.addEventListener('change', follow);
    return () => {
      removeEventListener('popstate', follow);
      addressChanges.removeEventListener('change', follow);
    };
  }, []);
  return new URLSearchParams(search);
}

/** Address of this page with other parameters. */
export function addressWith(change: AddressChange): string {
  const parameters = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined) parameters.delete(name);
    else parameters.set(name, value);
  }
  return parameters.size === 0 ? location.pathname : `?${parameters}`;
}

/** Changes the address without loading the page. Back returns to the former one. */
export function changeAddress(change: AddressChange, state: unknown = null): void {
  history.pushState(state, '', addressWith(change));
  addressChanges.dispatchEvent(new Event('change'));
}
