import type { QueryTooLarge } from '../query.ts';
import type { PackedAnswer, Query } from './engine.ts';

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

/** Every request has one reply; `ready` comes once, before all of them. */
export type WorkerReply = { readonly kind: 'ready' } | (WorkerOutcome & { readonly hasGrown: boolean });

export type WorkerOutcome =
  | { readonly kind: 'answer'; readonly answer: PackedAnswer }
  | { readonly kind: 'tooLarge'; readonly reason: QueryTooLarge['reason'] }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly message: string };
