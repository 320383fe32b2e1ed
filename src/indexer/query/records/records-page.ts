import type { RecordsPage, RowsQuery } from '../query.ts';
import type { PackedRows } from '../rows.ts';
import { type RowDecoder, recordWriter } from './record-writers.ts';

/** Serializes a page of rows as JSON records. Without a decoder they have no `decoded`. */
export function recordsPage(
  { fields, rows, total, isCapped }: PackedRows,
  { entity }: RowsQuery,
  decoder?: RowDecoder,
): RecordsPage {
  const write = recordWriter({ entity, fields, decoder });
  // The engine concatenates the pieces only when the text is encoded.
  let records = '';
  for (const row of rows) records += records === '' ? write(row) : `,${write(row)}`;
  // A buffer of its own, so that it can be transferred to another thread.
  const json = new TextEncoder().encode(`[${records}]`);
  return { json, total, isCapped };
}
