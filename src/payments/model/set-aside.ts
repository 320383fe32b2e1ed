/**
 * Reason why the receipt of a transaction could not be read: the answer is too large, the node refuses it, the node has
 * none for a block that it shows, the node does not answer in time, or each node contradicts the hash of its block.
 */
export type SetAsideReason = 'too_large' | 'refused' | 'missing' | 'unanswered' | 'contradicted';

/**
 * Parts of a block that contain payments: logs, transactions that send the native coin, and traces of contracts that do.
 */
export type BlockPart = 'tokens' | 'coins' | 'traces';

/** A set-aside transaction as an organization sees it. Times are UTC milliseconds. */
export interface SetAsideTransaction {
  readonly id: string;
  readonly chainId: number;
  readonly txHash: string;
  readonly reason: SetAsideReason;
  readonly attempts: number;
  /** Sessions with a payment that waits for it; at most ten. */
  readonly sessionIds: readonly string[];
  /** Number of its transfers that match no session. */
  readonly unmatchedTransfers: number;
  readonly setAsideAt: number;
  readonly attemptedAt: number;
  readonly nextAttemptAt: number;
}

/** A transaction whose receipt could not be read, by its lower-case hash. */
export interface UnreadReceipt {
  readonly txHash: string;
  readonly reason: SetAsideReason;
}
