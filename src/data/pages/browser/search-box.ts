import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

/** The search over all chains. */
export function SearchBox(): VNode {
  const [text, setText] = useState(new URLSearchParams(location.search).get('q') ?? '');
  return html`<form class="search" role="search" action="/search">
    <label class="visually-hidden" for="search">Search blocks, transactions, addresses and tokens</label>
    <input
      id="search"
      name="q"
      type="search"
      placeholder="Address, transaction, block or token"
      autocomplete="off"
      value=${text}
      onInput=${(event: InputEvent & { currentTarget: HTMLInputElement }) => setText(event.currentTarget.value)}
    />
  </form>`;
}
