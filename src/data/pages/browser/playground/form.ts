import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { type Chain, canAnswer } from '../chains.ts';
import { COMPARISONS, filtersOf, KINDS, type Kind, type PathPart } from './kinds.ts';
import type { Filter, Query } from './query.ts';

type Changed = Event & { readonly currentTarget: HTMLInputElement | HTMLSelectElement };
/** Changes parts of the form and resets the answer to its first page. */
type Change = (part: Partial<Query>) => void;

/** The form of the playground. */
export function Form({
  query,
  chains,
  change,
  run,
}: {
  query: Query;
  chains: readonly Chain[];
  change: Change;
  run: () => void;
}): VNode {
  const { kind } = query;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    run();
  };
  return html`<form class="stack playground" onSubmit=${submit}>
    <label>Dataset
      <select
        value=${kind.id}
        onChange=${({ currentTarget }: Changed) => {
          const chosen = KINDS.find(({ id }) => id === currentTarget.value);
          if (chosen !== undefined) change({ kind: chosen });
        }}
      >${KINDS.map(({ id, label }) => html`<option key=${id} value=${id}>${label}</option>`)}</select>
    </label>
    ${kind.subject && pathField(kind.subject, query.subject, subject => change({ subject }))}
    ${kind.signature && pathField(kind.signature, query.signature, signature => change({ signature }))}
    ${h(ChainChoice, { query, chains, change })}
    ${h(Filters, {
      kind,
      filters: query.filters,
      change: (filters: Query['filters']) => change({ filters }),
    })}
    ${field('Group by', query.groupBy, groupBy => change({ groupBy }), 'day, hour, from_address …')}
    ${field('Aggregate', query.aggregate, aggregate => change({ aggregate }), 'count() as n, sum(value) as wei')}
    ${field('Sort by', query.sortBy, sortBy => change({ sortBy }), 'block_number', 'playground-fields')}
    <datalist id="playground-fields">${kind.fields.map(name => html`<option key=${name} value=${name} />`)}</datalist>
    <div class="row halves">
      <label>Order
        <select value=${query.sortOrder} onChange=${({ currentTarget }: Changed) => change({ sortOrder: currentTarget.value })}>
          <option value="">descending (default)</option>
          <option value="desc">descending</option>
          <option value="asc">ascending</option>
        </select>
      </label>
      <label>Rows per chain
        <input inputmode="numeric" value=${query.limit} placeholder="20"
          onInput=${({ currentTarget }: Changed) => change({ limit: currentTarget.value })} />
      </label>
    </div>
    ${
      kind.canDecode &&
      html`<label class="check">
        <input type="checkbox" checked=${query.decode} onChange=${() => change({ decode: !query.decode })} />
        Decode arguments with contract ABIs
      </label>`
    }
    <div><button class="primary">Run</button></div>
  </form>`;
}

function ChainChoice({
  query: { chainIds, kind },
  chains,
  change,
}: {
  query: Query;
  chains: readonly Chain[];
  change: Change;
}): VNode {
  const toggle = (id: number) =>
    change({ chainIds: chainIds.includes(id) ? chainIds.filter(other => other !== id) : [...chainIds, id] });
  return html`<fieldset class="stack">
    <legend>Chains</legend>
    ${chains.map(chain => {
      const isAble = canAnswer(chain, kind.operationId);
      return html`<label class="check" key=${chain.id}>
        <input type="checkbox" checked=${chainIds.includes(chain.id)} disabled=${!isAble} onChange=${() => toggle(chain.id)} />
        ${chain.name}${!isAble && ' (not supported by its back ends)'}
      </label>`;
    })}
    ${chainIds.length === 0 && html`<p class="hint">If none is selected, the first chain is queried.</p>`}
  </fieldset>`;
}

function pathField({ label, example }: PathPart, value: string, change: (text: string) => void): VNode {
  return field(label, value, change, example);
}

function field(
  label: string,
  value: string,
  change: (text: string) => void,
  placeholder: string,
  list?: string,
): VNode {
  return html`<label>${label}
    <input
      value=${value}
      placeholder=${placeholder}
      list=${list}
      autocomplete="off"
      autocapitalize="none"
      spellcheck=${false}
      onInput=${({ currentTarget }: Changed) => change(currentTarget.value)}
    />
  </label>`;
}

/** Filter rows of the form: field, comparison and value. */
function Filters({
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
    change(filters.map((filter, other) => (other === index ? { ...filter, ...part } : filter)));
  const known = filters
    .map((filter, index) => ({ filter, index }))
    .filter(({ filter }) => names.includes(filter.name));
  return html`<fieldset class="stack">
    <legend>Filters</legend>
    ${known.map(
      ({ filter, index }, row) => html`<div class="row filter" key=${index}>
        <select
          aria-label=${`Field of filter ${row + 1}`}
          value=${filter.name}
          onChange=${(event: Event & { currentTarget: HTMLSelectElement }) =>
            replace(index, { name: event.currentTarget.value })}
        >${names.map(name => html`<option key=${name} value=${name}>${wordsOf(name)}</option>`)}</select>
        <input
          aria-label=${`Value of filter ${row + 1}`}
          value=${filter.value}
          placeholder=${exampleOf(filter.name)}
          onInput=${(event: InputEvent & { currentTarget: HTMLInputElement }) =>
            replace(index, { value: event.currentTarget.value })}
        />
        <button type="button" aria-label=${`Remove filter ${row + 1}`} onClick=${() => change(filters.filter((_, other) => other !== index))}>×</button>
      </div>`,
    )}
    <div><button type="button" onClick=${() => change([...filters, { name: names[0] ?? '', value: '' }])}>Add filter</button></div>
  </fieldset>`;
}

/** Formats `filter_value_gte` as `value ≥`. */
function wordsOf(name: string): string {
  const field = name.replace(/^filter_/, '');
  const [suffix, sign] = COMPARISONS.findLast(([end]) => end !== '' && field.endsWith(end)) ?? ['', '='];
  return `${field.slice(0, field.length - suffix.length)} ${sign}`;
}

function exampleOf(name: string): string {
  if (name.includes('timestamp')) return 'seconds since 1970';
  if (/value|gas_price/.test(name)) return 'wei';
  return /hash|address|topic|selector/.test(name) ? '0x…' : 'number';
}
