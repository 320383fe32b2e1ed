import { toJson } from '#lib/json.ts';
import type { FieldValues, RecordsPage, RowsQuery } from '../query.ts';
import type { PackedRows } from '../rows.ts';
import { type EntityRecords, type RecordReader, type RowDecoder, recordReaders } from './record-readers.ts';

/** A page of rows as the JSON text of its records. Without a decoder they have no `decoded`. */
export function recordsPage(
  { fields, rows, total, isCapped }: PackedRows,
  { entity }: RowsQuery,
  decoder?: RowDecoder,
): RecordsPage {
  const readers: { [E in keyof EntityRecords]: RecordReader<EntityRecords[E]> } = recordReaders(decoder);
  const read = readers[entity];
  const records = rows.map(row => read(fieldValues(fields, row)));
  // Its memory is its own, so that it can be handed to another thread as it is.
  const json = new TextEncoder().encode(toJson(records));
  return { json, total, isCapped };
}

function fieldValues(fields: readonly string[], row: PackedRows['rows'][number]): FieldValues {
  return Object.fromEntries(fields.map((field, index) => [field, row[index] ?? null]));
}
