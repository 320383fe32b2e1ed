import type { RecordsPage, RowsQuery } from '../query.ts';
import type { PackedRows } from '../rows.ts';
import { type RowDecoder, recordWriter } from './record-writers.ts';

/** A page of rows as the JSON text of its records. Without a decoder they have no `decoded`. */
export function recordsPage(
  { fields, rows, total, isCapped }: PackedRows,
  { entity }: RowsQuery,
  decoder?: RowDecoder,
): RecordsPage {
  const write = recordWriter({ entity, fields, decoder });
  // Pieces are put together when the text is encoded, and not before.
  let records = '';
  for (const row of rows) records += records === '' ? write(row) : `,${write(row)}`;
  // Its memory is its own, so that it can be handed to another thread as it is.
  const json = new TextEncoder().encode(`[${records}]`);
  return { json, total, isCapped };
}
