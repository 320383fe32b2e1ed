/**
 * Reason why the receipt of a transaction could not be read: the answer is too large, the node refuses it, the node has
 * none for a block that it shows, or the node does not answer in time.
 */
export type SetAsideReason = 'too_large' | 'refused' | 'missing' | 'unanswered';

/** What payments are found in: logs of tokens, and transactions that send the native coin. */
export type BlockPart = 'tokens' | 'coins';

/** A transaction whose receipt could not be read, by its lower-case hash. */
export interface UnreadReceipt {
  readonly txHash: string;
  readonly reason: SetAsideReason;
}
