import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { COMPARISONS, filtersOf, type Kind } from './kinds.ts';
import type { Filter } from './query.ts';

/** Filter rows of the form: field, comparison and value. */
export function Filters({
  kind,
  filters,
  change,
}: {
  kind: Kind;
  filters: readonly Filter[];
  change: (filters: readonly Filter[]) => void;
}): VNode {
  const names = filtersOf(kind);
  const replace = (index: number, part: Partial<Filter>) =>
    change(filters.map((filter, place) => (place === index ? { ...filter, ...part } : filter)));
  const known = filters
    .map((filter, index) => ({ filter, index }))
    .filter(({ filter }) => names.includes(filter.name));
  return html`<fieldset class="stack">
    <legend>Filters</legend>
    ${known.map(
      ({ filter, index }, place) => html`<div class="row filter" key=${index}>
        <select
          aria-label=${`Field of filter ${place + 1}`}
          value=${filter.name}
          onChange=${(event: Event & { currentTarget: HTMLSelectElement }) =>
            replace(index, { name: event.currentTarget.value })}
        >${names.map(name => html`<option key=${name} value=${name}>${wordsOf(name)}</option>`)}</select>
        <input
          aria-label=${`Value of filter ${place + 1}`}
          value=${filter.value}
          placeholder=${exampleOf(filter.name)}
          onInput=${(event: InputEvent & { currentTarget: HTMLInputElement }) =>
            replace(index, { value: event.currentTarget.value })}
        />
        <button type="button" aria-label=${`Remove filter ${place + 1}`} onClick=${() => change(filters.filter((_, other) => other !== index))}>×</button>
      </div>`,
    )}
    <div><button type="button" onClick=${() => change([...filters, { name: names[0] ?? '', value: '' }])}>Add a filter</button></div>
  </fieldset>`;
}

/** Formats `filter_value_gte` as `value ≥`. */
export function wordsOf(name: string): string {
  const field = name.replace(/^filter_/, '');
  const [suffix, sign] = COMPARISONS.findLast(([end]) => end !== '' && field.endsWith(end)) ?? ['', '='];
  return `${field.slice(0, field.length - suffix.length)} ${sign}`;
}

function exampleOf(name: string): string {
  if (name.includes('timestamp')) return 'seconds since 1970';
  if (/value|gas_price/.test(name)) return 'wei';
  return /hash|address|topic|selector/.test(name) ? '0x…' : 'number';
}
