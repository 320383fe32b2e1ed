import type { DatabaseOptions } from '#db/open.ts';
import type { PackedAnswer, SerialEngine } from '#indexer/query/engine.ts';
import type { Cell } from '#indexer/query/rows.ts';
import { openEngine } from '#indexer/query/threads/open-engine.ts';

/** An engine in this thread, whose queries are never aborted. */
export function testEngine(database: DatabaseOptions): Promise<SerialEngine> {
  return openEngine(database, { isCancelled: () => false, deadlineMs: 10_000 });
}

/** Values by public name: integers are bigints, hex is lower-case text, and missing values are null. */
export type FieldValues = Readonly<Record<string, bigint | string | null>>;

/** Rows of an answer with their field names. @throws Error for an answer of groups */
export function rowsOf(answer: PackedAnswer) {
  if (!('rows' in answer)) throw new Error('no rows');
  const { fields, rows, total, isCapped } = answer;
  const named = rows.map(
    (row): FieldValues =>
      Object.fromEntries(fields.map((field, index) => [field, exact(row[index] ?? null)])),
  );
  return { rows: named, total, isCapped };
}

/** Amounts are digits. No other text of a row consists of digits only. */
function exact(value: Cell): Cell {
  return typeof value === 'string' && /^\d+$/.test(value) ? BigInt(value) : value;
}
