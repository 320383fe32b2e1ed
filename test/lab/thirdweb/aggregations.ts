import { type Fields, listOf } from '#data/backends/upstream-json/fields.ts';
import type { ThirdwebGeneration } from './generation.ts';

const MOMENT = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.000Z$/;

/**
 * Groups as ClickHouse writes them: times without a zone, and zero for empty sums. In the July generation they were
 * members of one object, by index.
 */
export function aggregationsWire(rows: unknown, generation: ThirdwebGeneration): unknown {
  const written = listOf(rows).map(row => Object.fromEntries(Object.entries(fields(row)).map(cell)));
  return generation === '2025-07' ? [{ ...written }] : written;
}

function cell([name, value]: [string, unknown]): [string, unknown] {
  if (value === null) return [name, 0];
  const moment = typeof value === 'string' ? MOMENT.exec(value) : null;
  return [name, moment === null ? value : `${moment[1]} ${moment[2]}`];
}

function fields(row: unknown): Fields {
  return { ...Object(row) };
}
