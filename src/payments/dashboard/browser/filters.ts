import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';

/** The filters that the address of the page names, without empty ones. */
export function givenFilters(): ReadonlyMap<string, string> {
  return new Map([...new URLSearchParams(location.search)].filter(([, value]) => value !== ''));
}

/** A filter that is one of some words; undefined without it and for other words. */
export function oneOf<Word extends string>(name: string, words: readonly Word[]): Word | undefined {
  const given = givenFilters().get(name);
  return words.find(word => word === given);
}

/** The days from … to …, both included, as the moments that the API takes; local days of the reader. */
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

/** Filters as a form that is part of the address, so that a link leads to what is shown. `tab` stays. */
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

/** A choice of words, none of them included. */
export function Choice({
  name,
  label,
  words,
}: {
  name: string;
  label: string;
  words: readonly (readonly [value: string, text: string])[];
}): VNode {
  const given = givenFilters().get(name) ?? '';
  return html`<label>
    ${label}
    <select name=${name}>
      <option value="">All</option>
      ${words.map(([value, text]) => html`<option value=${value} selected=${value === given}>${text}</option>`)}
    </select>
  </label>`;
}

/** The first and the last day of what is listed. */
export function Days(): VNode {
  const given = givenFilters();
  return html`
    <label>From <input type="date" name="from" value=${given.get('from')} /></label>
    <label>To <input type="date" name="to" value=${given.get('to')} /></label>
  `;
}
