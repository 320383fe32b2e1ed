import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { h } from '#pages/browser/element.ts';
import { Badge } from '#pages/browser/layout.ts';
import { pageOf } from './api.ts';
import { currentChainId, exactPage } from './exact-page.ts';
import { type Suggestion, type Suggestions, useSuggestions } from './suggestions.ts';

/** Longest wait, after Enter, for the page that the text names. Then all results are opened. */
const WAIT_MS = 1_000;
const LIST_ID = 'search-suggestions';
const optionId = (index: number) => `${LIST_ID}-${index}`;

/**
 * Search over all chains with suggestions, after the combobox pattern of the ARIA practices. Enter opens the marked
 * suggestion, else the page that the text names exactly, else the page of all results.
 */
export function SearchBox(): VNode {
  const [text, setText] = useState(new URLSearchParams(location.search).get('q') ?? '');
  const [isOpen, setOpen] = useState(false);
  const [markedKey, setMarkedKey] = useState<string>();
  const suggestions = useSuggestions(isOpen ? text : '');
  const { items } = suggestions;
  // Found by key, because results of a slow chain are inserted between the others.
  const marked = items.findIndex(item => keyOf(item) === markedKey);
  const list = useRef<HTMLUListElement>(null);
  const field = useFocusByKey();
  const isShown = isOpen && text.trim() !== '';
  useEffect(() => list.current?.children[marked]?.scrollIntoView({ block: 'nearest' }), [marked]);

  const close = () => {
    setOpen(false);
    setMarkedKey(undefined);
  };
  const move = (by: number) => {
    setOpen(true);
    const item = items[next(marked, by, items.length)];
    setMarkedKey(item && keyOf(item));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && isShown) close();
    else if (event.key === 'ArrowDown') move(1);
    else if (event.key === 'ArrowUp') move(-1);
    else return;
    event.preventDefault();
  };
  const { isSearching, open, cancel } = useOpening();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const query = text.trim();
    if (query === '') return;
    const chosen = items[marked];
    close();
    open(
      async () =>
        chosen?.href ?? (await promptly(exactPage(query))) ?? pageOf.search(query, currentChainId()),
    );
  };
  return html`<form class="search" role="search" action="/search" onSubmit=${submit}>
    <label class="visually-hidden" for="search">Search blocks, transactions, addresses and tokens</label>
    <input
      id="search"
      ref=${field}
      aria-keyshortcuts="/"
      name="q"
      type="search"
      placeholder="Address, transaction, block, token or name"
      autocomplete="off"
      autocapitalize="none"
      spellcheck=${false}
      role="combobox"
      aria-autocomplete="list"
      aria-expanded=${isShown && items.length > 0}
      aria-controls=${LIST_ID}
      aria-activedescendant=${marked >= 0 ? optionId(marked) : undefined}
      value=${text}
      onInput=${(event: InputEvent & { currentTarget: HTMLInputElement }) => {
        cancel();
        setText(event.currentTarget.value);
        setOpen(true);
        setMarkedKey(undefined);
      }}
      onKeyDown=${onKeyDown}
      onBlur=${close}
    />
    <kbd class="shortcut" aria-hidden="true" title="Press / to search">/</kbd>
    <p class=${isSearching ? 'small' : 'visually-hidden'} role="status">${isSearching && 'Searching…'}</p>
    <div class="suggestions" hidden=${!isShown}>
      <ul id=${LIST_ID} ref=${list} role="listbox" aria-label="Suggestions" class="plain">
        ${items.map((item, index) =>
          h(Option, { key: keyOf(item), item, index, isMarked: index === marked }),
        )}
      </ul>
      <p class="small" role="status">${statusText(suggestions)}</p>
    </div>
  </form>`;
}

const TYPED_INTO = 'input, textarea, select, [contenteditable], dialog';

/** Focuses the field when `/` is pressed, unless the reader types somewhere. */
function useFocusByKey() {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof Element && event.target.closest(TYPED_INTO) !== null;
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
      event.preventDefault();
      field.current?.focus();
      field.current?.select();
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, []);
  return field;
}

/** Opens the page found by a search, unless the reader types or follows a link in the meantime. */
function useOpening() {
  const [isSearching, setSearching] = useState(false);
  const attempt = useRef(0);
  const cancel = () => {
    attempt.current += 1;
    setSearching(false);
  };
  useEffect(() => {
    const clicked = ({ target }: MouseEvent) => {
      if (target instanceof Element && target.closest('a, [role=option]') !== null) cancel();
    };
    document.addEventListener('click', clicked, true);
    return () => document.removeEventListener('click', clicked, true);
  }, []);
  const open = async (find: () => Promise<string>) => {
    cancel();
    const mine = attempt.current;
    setSearching(true);
    const href = await find();
    if (mine !== attempt.current) return;
    setSearching(false);
    location.assign(href);
  };
  return { isSearching, open, cancel };
}

/** Value of a promise if it resolves in time, else undefined. */
function promptly<Value>(promise: Promise<Value>): Promise<Value | undefined> {
  const late = new Promise<undefined>(resolve => setTimeout(() => resolve(undefined), WAIT_MS));
  return Promise.race([promise, late]);
}

function Option({ item, index, isMarked }: { item: Suggestion; index: number; isMarked: boolean }): VNode {
  // Prevents the field from losing the focus, which would close the list before the click.
  const keepFocus = (event: MouseEvent) => event.preventDefault();
  return html`<li
    id=${optionId(index)}
    role="option"
    aria-selected=${isMarked}
    onMouseDown=${keepFocus}
    onClick=${() => location.assign(item.href)}
  >
    <span class="row">
      <span class="clip">${item.name}</span>
      ${h(Badge, { children: item.kind })}
    </span>
    <span class="small row">
      <span>${item.chain.name}</span>
      ${item.value !== undefined && html`<code class="clip">${item.value}</code>`}
    </span>
  </li>`;
}

/** Key of a suggestion. It includes the kind, because a token is also a contract. */
function keyOf({ href, kind }: Suggestion): string {
  return `${kind} ${href}`;
}

/** Index of the next marked suggestion. Before the first and after the last one, the field itself is marked. */
function next(marked: number, by: number, count: number): number {
  const stops = count + 1;
  return ((marked + 1 + by + stops) % stops) - 1;
}

function statusText({ items, isAsking, silent }: Suggestions): string {
  if (isAsking) return 'Searching…';
  const missing = silent.length === 0 ? '' : ` No answer from ${silent.join(', ')}.`;
  if (items.length === 0) return `No suggestions. Press Enter to search all chains.${missing}`;
  return `${items.length} ${items.length === 1 ? 'suggestion' : 'suggestions'}. Press Enter to search all chains.${missing}`;
}
