import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';

/** Non-empty filters in the page's URL. */
export function givenFilters(): ReadonlyMap<string, string> {
  return new Map([...new URLSearchParams(location.search)].filter(([, value]) => value !== ''));
}

/** Filter with one of the given values; undefined if it is absent or has another value. */
export function oneOf<Word extends string>(
  name: string,
  words: readonly (readonly [Word, text: string])[],
): Word | undefined {
  const given = givenFilters().get(name);
  return words.find(([word]) => word === given)?.[0];
}

/** Filter with one of the keys of a record; undefined if it is absent or has another value. */
export function oneOfKeys<Key extends string>(
  name: string,
  record: Readonly<Record<Key, unknown>>,
): Key | undefined {
  const given = givenFilters().get(name);
  const isKey = (word: string): word is Key => Object.hasOwn(record, word);
  return given !== undefined && isKey(given) ? given : undefined;
}

/** Filter by days, both included, converted to the times that the API takes. Days are in the reader's time zone. */
export function givenPeriod(): { readonly from?: string; readonly to?: string } {
  const given = givenFilters();
  const from = startOf(given.get('from'), 0);
  const to = startOf(given.get('to'), 1);
  return { ...(from && { from }), ...(to && { to }) };
}

function startOf(day: string | undefined, daysLater: number): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day ?? '') ?? [];
  if (date === undefined) return undefined;
  return new Date(Number(year), Number(month) - 1, Number(date) + daysLater).toISOString();
}

/** Form that puts the filters into the URL, so that a link shows the same list. `tab` is preserved. */
export function Filters({ children }: { children: ComponentChildren }): VNode {
  const tab = givenFilters().get('tab');
  const isFiltered = [...givenFilters().keys()].some(name => name !== 'tab');
  return html`<form class="filters" aria-label="Filters">
    ${tab !== undefined && html`<input type="hidden" name="tab" value=${tab} />`}
    ${children}
    <button>Apply</button>
    ${isFiltered && html`<a href=${tab === undefined ? location.pathname : `?tab=${encodeURIComponent(tab)}`}>Clear</a>`}
  </form>`;
}

/** Search field of a list. */
export function SearchField({ examples }: { examples: string }): VNode {
  return html`<label class="search">
    Search
    <input
      name="query"
      type="search"
      value=${givenFilters().get('query')}
      maxlength="200"
      placeholder=${examples}
      autocomplete="off"
    />
  </label>`;
}

/** Select field with the given options, and one for no filter. */
export function Choice({
  name,
  label,
  words,
  all = 'All',
}: {
  name: string;
  label: string;
  words: readonly (readonly [value: string, text: string])[];
  /** Name of the option without a filter. */
  all?: string;
}): VNode {
  const given = givenFilters().get(name) ?? '';
  return html`<label>
    ${label}
    <select name=${name}>
      <option value="">${all}</option>
      ${words.map(([value, text]) => html`<option value=${value} selected=${value === given}>${text}</option>`)}
    </select>
  </label>`;
}

/** Date fields for the first and the last listed day. */
export function Days(): VNode {
  const given = givenFilters();
  return html`
    <label>From <input type="date" name="from" value=${given.get('from')} /></label>
    <label>To <input type="date" name="to" value=${given.get('to')} /></label>
  `;
}
