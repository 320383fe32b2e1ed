import type { GroupsAnswer, GroupsQuery, RowsQuery } from './query.ts';
import type { PackedRows } from './rows.ts';

export type Query = RowsQuery | GroupsQuery;
export type PackedAnswer = PackedRows | GroupsAnswer;

/** Runs queries over one index, one after the other. */
export interface Engine {
  /**
   * @throws QueryTooLarge, except for `memory`; Unavailable while the database cannot be reached; Cancelled when the
   * query was ended
   */
  run(query: Query): Promise<PackedAnswer>;
  /** Ends the query that runs where it runs: in the thread, or on the server. Its `run` rejects soon. */
  cancel(): void;
  close(): Promise<void>;
}

/** Rejection of a query that was told to end. */
export class Cancelled extends Error {}

export interface EngineOptions {
  /** Returns true while the query that runs is to end. */
  readonly isCancelled: () => boolean;
  /** Time that one statement may take on a server. */
  readonly deadlineMs: number;
  /** Bound of SQLite's page cache, in bytes. */
  readonly cacheBytes?: number;
}
