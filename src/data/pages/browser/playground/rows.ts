import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { Moment } from '#pages/browser/moment.ts';
import { clipped, Reference } from '#pages/browser/reference.ts';
import { type Column, Table } from '#pages/browser/table.ts';
import { pageOf } from '../api.ts';

/** Row of records or groups. Its keys depend on the request. */
export type Row = Readonly<Record<string, unknown>>;

const LONGEST_TEXT = 80;
const LONGEST_STRUCTURE = 20_000;
const HASH = /^0x[0-9a-f]{64}$/i;
const ADDRESS = /^0x[0-9a-f]{40}$/i;
// Start of a day in UTC. Shown as a date, because local time could be another day.
const WHOLE_DAY = /^\d{4}-\d\d-\d\dT00:00:00(?:\.0+)?Z$/;
const ISO_TIME = /^\d{4}-\d\d-\d\dT/;

/** Table of rows with one column per key. `chainId` is used for rows without a chain id. */
export function Rows({
  label,
  rows,
  chainId,
}: {
  label: string;
  rows: readonly Row[];
  chainId: number | undefined;
}): VNode {
  // Decoded data comes first, because it was requested explicitly and would be hidden behind long columns.
  const names = [...new Set(['decoded', ...rows.flatMap(row => Object.keys(row))])].filter(name =>
    rows.some(row => name in row),
  );
  const items = rows.map((row, index) => ({ row, index }));
  const columns: readonly Column<(typeof items)[number]>[] = names.map(name => ({
    name,
    cell: ({ row }) => cellOf(name, { chain_id: chainId, ...row }),
    isNumber: rows.every(row => row[name] === null || typeof row[name] === 'number'),
  }));
  return h(Table<(typeof items)[number]>, { label, items, columns, keyOf: ({ index }) => String(index) });
}

function cellOf(name: string, row: Row): ComponentChildren {
  const value = row[name];
  if (value === null || value === undefined) return '–';
  if (name === 'block_timestamp' && typeof value === 'number') return h(Moment, { at: value * 1_000 });
  const chainId = Number(row.chain_id);
  const isOnChain = Number.isSafeInteger(chainId) && chainId > 0;
  if (name === 'block_number' && isOnChain) {
    return html`<a href=${pageOf.block(chainId, String(value))}>${grouped(String(value))}</a>`;
  }
  if (typeof value === 'number') return Number.isInteger(value) ? grouped(value) : String(value);
  if (typeof value !== 'string') return structureOf(value);
  if (WHOLE_DAY.test(value))
    return html`<time datetime=${value} title=${`${value.slice(0, 10)} in UTC`}>${value.slice(0, 10)}</time>`;
  if (ISO_TIME.test(value) && !Number.isNaN(Date.parse(value))) return h(Moment, { at: value });
  if (value.startsWith('0x')) {
    return h(Reference, { value, href: isOnChain ? pageFor(name, value, chainId) : undefined });
  }
  return clipped(value, LONGEST_TEXT);
}

function pageFor(name: string, value: string, chainId: number): string | undefined {
  if (ADDRESS.test(value)) return pageOf.address(chainId, value);
  if (!HASH.test(value)) return undefined;
  if (name === 'hash' || name === 'transaction_hash') return pageOf.transaction(chainId, value);
  return name === 'block_hash' ? pageOf.block(chainId, value) : undefined;
}

/** Renders lists and objects, such as decoded arguments, as details to open. */
function structureOf(value: unknown): VNode {
  const text = JSON.stringify(value);
  return html`<details>
    <summary>${clipped(text, LONGEST_TEXT / 2)}</summary>
    <pre>${clipped(JSON.stringify(value, null, 2), LONGEST_STRUCTURE)}</pre>
  </details>`;
}
