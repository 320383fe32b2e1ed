import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { Badge } from '#pages/browser/layout.ts';
import { clipped, Reference } from '#pages/browser/reference.ts';
import { type Column, Table } from '#pages/browser/table.ts';
import { type Explorer, pageOf } from '../api.ts';
import { CodeText } from './code-text.ts';

type Parameter = Explorer['DecodedParameter'] & Partial<Explorer['DecodedLogParameter']>;
type Row = Parameter & { readonly position: number };

const LONG_CHARACTERS = 80;
const LISTED_ELEMENTS = 100;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const INTEGER = /^u?int\d*$/;

/** Table of decoded parameters of a call or an event: names, types and values. */
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
        html`${clipped(name) || `(${position})`}${indexed === true && html` ${h(Badge, { children: 'indexed' })}`}`,
    },
    { name: 'Type', cell: ({ type }) => html`<code>${clipped(type)}</code>` },
    {
      name: 'Value',
      cell: ({ name, type, value }) =>
        h(DecodedValue, { chainId, label: clipped(name) || 'Value', type, value }),
    },
  ];
  return h(Table<Row>, {
    label,
    columns,
    items: parameters.map((parameter, position) => ({ ...parameter, position })),
    keyOf: ({ position }) => String(position),
  });
}

interface ValueProps {
  chainId: number;
  label: string;
  type: string;
  value: string;
}

/** One value: an address is a link, and a long value opens on demand. */
function DecodedValue({ chainId, label, type, value }: ValueProps): VNode {
  if (type === 'address' && ADDRESS.test(value))
    return h(Reference, { value, href: pageOf.address(chainId, value), isWhole: true });
  if (INTEGER.test(type)) return html`<span>${grouped(value)}</span>`;
  const isJson = type.endsWith(']') || type.startsWith('(') || type.startsWith('tuple');
  if (!isJson && value.length <= LONG_CHARACTERS && !value.includes('\n'))
    return html`<code class="text">${value}</code>`;
  const elements = type.endsWith(']') ? elementsOf(value) : undefined;
  return html`<details>
    <summary>
      ${elements !== undefined && html`${elements.length} ${elements.length === 1 ? 'value' : 'values'}: `}
      <code>${clipped(value, LONG_CHARACTERS / 2)}</code>
    </summary>
    ${
      elements !== undefined && elements.length <= LISTED_ELEMENTS
        ? html`<ol class="topics" start="0">
          ${elements.map(
            (element, position) => html`<li key=${position}>
              ${h(DecodedValue, {
                chainId,
                label: `${label} ${position}`,
                type: type.replace(/\[\d*\]$/, ''),
                value: element,
              })}
            </li>`,
          )}
        </ol>`
        : h(CodeText, { label, value: isJson ? indented(value) : value })
    }
  </details>`;
}

/** Elements of an array of texts; undefined for tuples, nested arrays and other values. */
function elementsOf(value: string): readonly string[] | undefined {
  const parsed = parsedJson(value);
  return Array.isArray(parsed) && parsed.every(one => typeof one === 'string') ? parsed : undefined;
}

/** Formats arrays and tuples, which are JSON text, over several lines. */
function indented(value: string): string {
  const parsed = parsedJson(value);
  return parsed === undefined ? value : JSON.stringify(parsed, undefined, 2);
}

function parsedJson(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}
