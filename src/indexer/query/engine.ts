import type { GroupsAnswer, GroupsQuery, RowsQuery } from './query.ts';
import type { PackedRows } from './rows.ts';

export type Query = RowsQuery | GroupsQuery;
export type PackedAnswer = PackedRows | GroupsAnswer;

/** Runs queries over one index, one at a time. */
export interface SerialEngine {
  /**
   * Runs a query.
   * @throws QueryTooLarge for any reason except `memory`
   * @throws Unavailable while the database cannot be reached
   * @throws Cancelled after `cancel`
   */
  run(query: Query): Promise<PackedAnswer>;
  /** Ends the running query, in the thread or on the server. Its `run` rejects soon after. */
  cancel(): void;
  close(): Promise<void>;
}

/** Rejection of a query that was cancelled. */
export class Cancelled extends Error {}

export interface EngineOptions {
  /** Returns true while the running query is being cancelled. */
  readonly isCancelled: () => boolean;
  /** Time limit of one statement on a server. */
  readonly deadlineMs: number;
  /** Maximum size of SQLite's page cache, in bytes. */
  readonly cacheBytes?: number;
}
