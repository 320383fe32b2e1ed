import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import type { Actor, Owner } from './owner.ts';
import type { FailureReason } from './session.ts';

export type TransactionStatus = PaymentsSchemas['TransactionStatus'];
export type MatchedBy = PaymentsSchemas['PaymentTransaction']['matched_by'];

/**
 * A transfer that was matched with a session or claimed for one. Amounts are in smallest units, times in UTC
 * milliseconds.
 */
export interface PaymentTransaction extends Owner {
  readonly id: string;
  readonly status: TransactionStatus;
  readonly paymentLinkId: string | null;
  readonly sessionId: string;
  readonly chainId: number;
  readonly tokenAddress: string;
  readonly amount: bigint;
  /** Null until the transaction is seen on the chain, and for coins that a balance showed. */
  readonly sender: string | null;
  readonly recipient: string;
  /** Null for coins that a balance showed, and for a simulated payment that failed. */
  readonly txHash: string | null;
  /** `NO_LOG` for coins that were read from their transaction; null until it is in a block. */
  readonly logIndex: number | null;
  readonly blockNumber: number | null;
  readonly blockHash: string | null;
  readonly blockTime: number | null;
  readonly confirmations: number;
  readonly requiredConfirmations: number;
  readonly matchedBy: MatchedBy;
  readonly failureReason: FailureReason | null;
  readonly isLate: boolean;
  readonly isDuplicate: boolean;
  readonly isPartial: boolean;
  readonly overpaidAmount: bigint | null;
  /**
   * Account nonce of a claimed transaction that was seen as pending. It tells a replaced transaction from a lost one.
   */
  readonly nonce: number | null;
  readonly createdAt: number;
  readonly confirmedAt: number | null;
  readonly completedAt: number | null;
  /** Time at which the merchant assigned it to its session or moved it there; null when it matched by itself. */
  readonly assignedAt: number | null;
  readonly assignedBy: Actor | null;
  readonly assignedReason: string | null;
  /** The session from which it was moved last. */
  readonly movedFrom: string | null;
  /**
   * True when its block was recomputed up to its hash, false when it was completed without that, null when this was not
   * checked (Decision 385).
   */
  readonly proven: boolean | null;
  /**
   * Block whose balance showed these coins, while the transaction that sent them is not known (Decision 399). They came
   * in this block or before, and not before `blockNumber`. Null for all other payments.
   */
  readonly balanceBlock: number | null;
}

/** The merchant's decision that a payment leaves a session for another one (Decision 369). */
export interface PaymentMove {
  readonly transactionId: string;
  /** The session that it left. */
  readonly sessionId: string;
  /** Time at which it came to that session by another move; 0 for the session that it first paid. */
  readonly since: number;
  readonly movedAt: number;
  readonly movedBy: Actor;
  readonly movedReason: string | null;
}
