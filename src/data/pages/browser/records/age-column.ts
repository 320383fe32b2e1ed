import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { h } from '#pages/browser/element.ts';
import { Ago, Moment } from '#pages/browser/moment.ts';
import type { Column } from '#pages/browser/table.ts';

type TimeForm = 'age' | 'date';

/** Column with the times of records, as ages or as dates; its heading switches all lists of this browser. */
export function ageColumn<Item>(timeOf: (item: Item) => string | null | undefined): Column<Item> {
  return {
    name: 'Age',
    heading: h(Heading, {}),
    cell: item => {
      const at = timeOf(item);
      return at == null ? html`<span>–</span>` : h(Time, { at });
    },
  };
}

function Heading(): VNode {
  const form = useTimeForm();
  const [shown, other] = form === 'age' ? ['Age', 'date'] : ['Date', 'age'];
  return html`<button
    type="button"
    class="switch"
    aria-label=${`${shown}, show as ${other}`}
    title=${`Show as ${other}`}
    onClick=${() => choose(form === 'age' ? 'date' : 'age')}
  >${shown}</button>`;
}

function Time({ at }: { at: string }): VNode {
  return useTimeForm() === 'age' ? h(Ago, { at }) : h(Moment, { at });
}

const KEY = 'tollgate.time-form';
const changes = new EventTarget();
let chosen: TimeForm = kept() === 'date' ? 'date' : 'age';

/** The form of times that this browser keeps. Other tabs follow when they are loaded. */
function useTimeForm(): TimeForm {
  const [form, setForm] = useState(chosen);
  useEffect(() => {
    const follow = () => setForm(chosen);
    changes.addEventListener('change', follow);
    return () => changes.removeEventListener('change', follow);
  }, []);
  return form;
}

function choose(form: TimeForm): void {
  chosen = form;
  try {
    localStorage.setItem(KEY, form);
  } catch {
    // Storage is off or full: the choice lasts as long as the page.
  }
  changes.dispatchEvent(new Event('change'));
}

function kept(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
