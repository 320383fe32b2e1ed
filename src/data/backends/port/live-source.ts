/** A block as streams tell it. The hash is lower case, the time in UTC milliseconds. */
export interface LiveBlock {
  readonly number: number;
  readonly hash: string;
  readonly timestamp: number;
}

/** Block that is no longer on the chain. */
interface OrphanedBlock extends LiveBlock {
  readonly parentHash: string;
}

/** Kind of what a client watches. */
export type WatchKind = 'address' | 'token' | 'transaction';

/** Transaction of a block in which something watched is active. */
export interface WatchedActivity {
  readonly watched: string;
  readonly transactionHash: string;
  readonly blockNumber: number;
}

export interface LiveRange {
  readonly from: number;
  readonly to: number;
}

export interface ActivityQuestion extends LiveRange {
  readonly kind: WatchKind;
  /** Addresses or transaction hashes in lower case, at least one. */
  readonly values: readonly string[];
  readonly limit: number;
}

/** Place of a transaction: the number of its block, or `pending`; undefined for an unknown one. */
type TransactionInclusion = { readonly blockNumber: number } | 'pending' | undefined;

/** Reads of one back end of a chain for streams of live events (Decision 410). Every read may reject. */
export interface LiveSource {
  /**
   * True when a lower head means that blocks were removed. Others are services of several servers, one of which may be
   * behind.
   */
  readonly isExact: boolean;
  /** Pause between two looks for a new head, in milliseconds. */
  readonly pollMs: number;
  /** Most watches that are asked for at a time; all of them when absent. */
  readonly maxWatches?: number;
  /** Resolves when something may have changed. Absent when only a look shows it. */
  nextChange?(): Promise<void>;
  /** Undefined while there is no block. */
  head(): Promise<LiveBlock | undefined>;
  /** Blocks of the chain, ascending; fewer when the back end does not have all of them. */
  blocks(range: LiveRange): Promise<readonly LiveBlock[]>;
  /** Activity in a range of blocks, in chain order, at most `limit`. */
  activity(query: ActivityQuestion): Promise<readonly WatchedActivity[]>;
  /** Blocks of these heights that are no longer on the chain, as far as they are known. */
  orphans(range: LiveRange): Promise<readonly OrphanedBlock[]>;
  inclusion(transactionHash: string): Promise<TransactionInclusion>;
}
