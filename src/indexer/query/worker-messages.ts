import type { PackedAnswer, Query } from './engine.ts';
import type { QueryTooLarge } from './query.ts';

/** What a worker is started with. */
export interface WorkerSetup {
  readonly file: string;
  /** Shared: not zero while the query that runs is to end. */
  readonly cancelled: Int32Array;
}

export interface WorkerRequest {
  readonly query: Query;
}

/** Every request has one reply. */
export type WorkerReply =
  | { readonly kind: 'answer'; readonly answer: PackedAnswer }
  | { readonly kind: 'tooLarge'; readonly reason: QueryTooLarge['reason'] }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly message: string };
