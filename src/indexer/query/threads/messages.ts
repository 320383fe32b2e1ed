import type { DatabaseOptions } from '#db/open.ts';
import type { Query } from '../engine.ts';
import type { GroupsAnswer, QueryTooLarge, RecordsPage, WrittenGroups } from '../query.ts';

/** What a worker is started with. */
export interface WorkerSetup {
  /** Shared: not zero while the query that runs is to end. */
  readonly cancelled: Int32Array;
  readonly deadlineMs: number;
  /** Bound of SQLite's page cache, in bytes. */
  readonly cacheBytes: number;
  /** Size of the heap, in bytes, from which on the worker is to be replaced. */
  readonly grownBytes: number;
}

/** A query with the index that it is about. */
export interface WorkerRequest {
  readonly database: DatabaseOptions;
  readonly query: Query;
  /** JSON text of the list of known ABIs to decode by, with the first query over the index that decodes. */
  readonly abis?: string;
}

/** An answer that crosses threads as it is: bytes are handed over, and only groups are copied. */
export type ThreadAnswer = RecordsPage | WrittenGroups | GroupsAnswer;

/** `cancel` is for a worker that waits for a server: one that runs a statement itself looks at `cancelled`. */
export type WorkerMessage =
  | ({ readonly kind: 'query' } & WorkerRequest)
  | { readonly kind: 'cancel' }
  | { readonly kind: 'close' };

/** Every request has one reply; `ready` comes once, before all of them. */
export type WorkerReply = { readonly kind: 'ready' } | (WorkerOutcome & { readonly hasGrown: boolean });

export type WorkerOutcome =
  | { readonly kind: 'answer'; readonly answer: ThreadAnswer }
  | { readonly kind: 'tooLarge'; readonly reason: QueryTooLarge['reason'] }
  | { readonly kind: 'cancelled' }
  /** The message is for our log. */
  | { readonly kind: 'unavailable' | 'failed'; readonly message: string };
