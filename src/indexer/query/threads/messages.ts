import type { DatabaseOptions } from '#db/open.ts';
import type { WrittenGroups } from '#query-model/row-selection.ts';
import type { Query } from '../engine.ts';
import type { GroupsAnswer, QueryTooLarge, RecordsPage } from '../query.ts';

/** Start data of a worker. */
export interface WorkerSetup {
  /** Shared memory; not zero while the running query is being cancelled. */
  readonly cancelled: Int32Array;
  readonly deadlineMs: number;
  /** Maximum size of SQLite's page cache, in bytes. */
  readonly cacheBytes: number;
  /** Heap size in bytes above which the worker is replaced. */
  readonly grownBytes: number;
  /** Steps by which the worker's priority is below that of the process, 0 to 19. */
  readonly niceness: number;
}

/** Query with its index. */
export interface WorkerRequest {
  readonly database: DatabaseOptions;
  readonly query: Query;
  /** JSON text of the ABIs to decode by. Sent with the first decoding query over an index. */
  readonly abis?: string;
}

/** Answer as it is passed between threads. Bytes are transferred; only groups are copied. */
export type ThreadAnswer = RecordsPage | WrittenGroups | GroupsAnswer;

/** `cancel` is for a worker that waits for a server. A worker that runs the statement itself checks `cancelled`. */
export type WorkerMessage =
  | ({ readonly kind: 'query' } & WorkerRequest)
  | { readonly kind: 'cancel' }
  | { readonly kind: 'close' };

/** Each request has one reply. `ready` is sent once, before all replies. */
export type WorkerReply = { readonly kind: 'ready' } | (WorkerOutcome & { readonly hasGrown: boolean });

export type WorkerOutcome =
  | { readonly kind: 'answer'; readonly answer: ThreadAnswer }
  | { readonly kind: 'tooLarge'; readonly reason: QueryTooLarge['reason'] }
  | { readonly kind: 'cancelled' }
  /** The message is for the log. */
  | { readonly kind: 'unavailable' | 'failed'; readonly message: string };
