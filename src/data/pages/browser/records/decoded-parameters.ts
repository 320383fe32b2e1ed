import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { Badge } from '#pages/browser/layout.ts';
import { type Column, Table } from '#pages/browser/list.ts';
import { clipped, Reference } from '#pages/browser/reference.ts';
import { type Explorer, pageOf } from '../api.ts';
import { CodeText } from './code-text.ts';

type Parameter = Explorer['DecodedParameter'] & Partial<Explorer['DecodedLogParameter']>;
type Row = Parameter & { readonly position: number };

const LONG_CHARACTERS = 80;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const INTEGER = /^u?int\d*$/;

/** Decoded parameters of a call or an event as a table of names, types and values. */
export function DecodedParameters({
  chainId,
  label,
  parameters,
}: {
  chainId: number;
  label: string;
  parameters: readonly Parameter[];
}): VNode {
  const columns: readonly Column<Row>[] = [
    {
      name: 'Name',
      cell: ({ name, position, indexed }) =>
        html`${clipped(name) || `(${position})`}${indexed === true && html` <${Badge}>indexed<//>`}`,
    },
    { name: 'Type', cell: ({ type }) => html`<code>${clipped(type)}</code>` },
    {
      name: 'Value',
      cell: ({ name, type, value }) =>
        html`<${DecodedValue} chainId=${chainId} label=${clipped(name) || 'Value'} type=${type} value=${value} />`,
    },
  ];
  return html`<${Table}
    label=${label}
    columns=${columns}
    items=${parameters.map((parameter, position) => ({ ...parameter, position }))}
    keyOf=${({ position }: Row) => String(position)}
  />`;
}

/** One value: an address leads to its page, and what is long opens on demand. */
function DecodedValue({
  chainId,
  label,
  type,
  value,
}: {
  chainId: number;
  label: string;
  type: string;
  value: string;
}): VNode {
  if (type === 'address' && ADDRESS.test(value))
    return html`<${Reference} value=${value} href=${pageOf.address(chainId, value)} isWhole />`;
  if (INTEGER.test(type)) return html`<span>${grouped(value)}</span>`;
  const text =
    type.endsWith(']') || type.startsWith('(') || type.startsWith('tuple') ? indented(value) : value;
  if (text.length <= LONG_CHARACTERS && !text.includes('\n')) return html`<code class="text">${text}</code>`;
  return html`<details>
    <summary><code>${clipped(value, LONG_CHARACTERS / 2)}</code></summary>
    <${CodeText} label=${label} value=${text} />
  </details>`;
}

/** Arrays and tuples, which are JSON text, over several lines. */
function indented(value: string): string {
  try {
    return JSON.stringify(JSON.parse(value), undefined, 2);
  } catch {
    return value;
  }
}
