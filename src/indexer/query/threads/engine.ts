import { openQueryDatabase } from '../database.ts';
import { registerFunctions } from '../functions.ts';
import { groupsOf } from '../groups.ts';
import type { GroupsAnswer, GroupsQuery, RowsQuery } from '../query.ts';
import { type PackedRows, rowsOf } from '../rows/rows.ts';

export type Query = RowsQuery | GroupsQuery;
export type PackedAnswer = PackedRows | GroupsAnswer;

/** Runs queries in the calling thread, one after the other. */
export interface Engine {
  /** @throws QueryTooLarge with the reason `groups` or `page`, and what `tick` throws. */
  run(query: Query): PackedAnswer;
  close(): void;
}

/** Opens an index that exists. `tick` is called every few thousand rows and may throw to end a query. */
export function openEngine(options: { file: string; cacheBytes?: number; tick: () => void }): Engine {
  const db = openQueryDatabase(options);
  const lists = registerFunctions(db);
  return {
    run(query) {
      // In one transaction, so that a page and the number of rows are of one moment.
      db.exec('begin');
      try {
        return query.kind === 'rows' ? rowsOf(db, query) : groupsOf(db, query, lists);
      } finally {
        db.exec('rollback');
        // Several indexes share a thread's memory, and what one of them has cached is of no use to the others.
        if (query.kind === 'groups') db.pragma('shrink_memory');
      }
    },
    close: () => db.close(),
  };
}
