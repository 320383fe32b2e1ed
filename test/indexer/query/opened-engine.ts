import type { DatabaseOptions } from '#db/open.ts';
import type { Engine, PackedAnswer } from '#indexer/query/engine.ts';
import type { FieldValues } from '#indexer/query/query.ts';
import { openEngine } from '#indexer/query/threads/open-engine.ts';

/** An engine in this thread, whose queries nobody ends. */
export function testEngine(database: DatabaseOptions): Promise<Engine> {
  return openEngine(database, { isCancelled: () => false, deadlineMs: 10_000 });
}

/** The rows of an answer with their field names. @throws Error for an answer of groups */
export function rowsOf(answer: PackedAnswer) {
  if (!('rows' in answer)) throw new Error('no rows');
  const { fields, rows, total, isCapped } = answer;
  const named = rows.map(
    (row): FieldValues => Object.fromEntries(fields.map((field, index) => [field, row[index] ?? null])),
  );
  return { rows: named, total, isCapped };
}
