import { openQueryDatabase } from '../database.ts';
import { registerFunctions } from '../functions.ts';
import { groupsOf } from '../groups.ts';
import type { GroupsAnswer, GroupsQuery, QueryTooLarge, RowsQuery } from '../query.ts';
import { type PackedRows, rowsOf } from '../rows.ts';

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

/** What a worker is started with. */
export interface WorkerSetup {
  /** Shared: not zero while the query that runs is to end. */
  readonly cancelled: Int32Array;
  /** Bound of SQLite's page cache, in bytes. */
  readonly cacheBytes: number;
  /** Size of the heap, in bytes, from which on the worker is to be replaced. */
  readonly grownBytes: number;
}

/** A query with the path of the index's SQLite file that it is about. */
export interface WorkerRequest {
  readonly file: string;
  readonly query: Query;
}

export type WorkerMessage = ({ readonly kind: 'query' } & WorkerRequest) | { readonly kind: 'close' };

/** Every request has one reply; `ready` comes once, before all of them. */
export type WorkerReply = { readonly kind: 'ready' } | (WorkerOutcome & { readonly hasGrown: boolean });

export type WorkerOutcome =
  | { readonly kind: 'answer'; readonly answer: PackedAnswer }
  | { readonly kind: 'tooLarge'; readonly reason: QueryTooLarge['reason'] }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly message: string };
