import type { Actor, Owner } from './owner.ts';

/** Log index of transfers of native coins that were read from their transactions (Decision 374). */
export const NO_LOG = -1;

/**
 * Log index of coins that a contract sent, by their position among those that moved inside their transaction. It is below
 * `NO_LOG` and the same for all trace methods (Decision 375).
 */
export function innerIndexOf(position: number): number {
  return NO_LOG - 1 - position;
}

/** True for coins that a contract sent and that were read from a trace. */
export function isOfContract(logIndex: number | null): boolean {
  return logIndex !== null && logIndex < NO_LOG;
}

/** Log index of a record as others see it; null for coins without a log of their own. */
export function shownLogIndex(logIndex: number | null): number | null {
  return logIndex === null || isWithoutLog(logIndex) ? null : logIndex;
}

/** Order of log indexes on the chain. Coins without a log come first, because their place among the logs is not known. */
export function byLogIndex(a: number, b: number): number {
  return isWithoutLog(a) && isWithoutLog(b) ? b - a : a - b;
}

/** Order on the chain: the first of two payments for one session completes it. */
export function byChainOrder(a: Placed, b: Placed): number {
  return (a.blockNumber ?? 0) - (b.blockNumber ?? 0) || byLogIndex(a.logIndex ?? 0, b.logIndex ?? 0);
}

/** Place of a transfer, or of a payment that may not be in a block yet. */
type Placed = Readonly<Record<'blockNumber' | 'logIndex', number | null>>;

/** True for coins that were read from their transaction or its trace. */
export function isWithoutLog(logIndex: number): boolean {
  return logIndex <= NO_LOG;
}

/**
 * Answer of the nodes of a chain about a hash that a payer reported (Decision 362):
 * - `searching`: they are still to be asked
 * - `unknown`: they have no such transaction
 * - `pending`: it is in a pool and in no block
 * - `failed`: it is in a block and failed
 * - `disputed`: they show different blocks or transfers
 * - `mined`: it is in a block, and its transfers are recorded
 */
export type HashStatus = 'searching' | 'unknown' | 'pending' | 'failed' | 'disputed' | 'mined';

/** Time after which a search for a reported hash ends without an answer, in milliseconds. */
export const HASH_SEARCH_MS = 10 * 60_000;

/** A transfer to a watched recipient, read from a block. Hex is lower case, times are UTC milliseconds. */
export interface Transfer {
  readonly chainId: number;
  readonly txHash: string;
  /** `NO_LOG` for coins that were read from their transaction. */
  readonly logIndex: number;
  readonly blockNumber: number;
  readonly blockHash: string;
  readonly blockTime: number;
  /** `NATIVE_COIN` for native coins. */
  readonly tokenAddress: string;
  readonly sender: string;
  readonly recipient: string;
  readonly amount: bigint;
}

/** An unmatched transfer, and the session it was probably meant for. */
export interface NewTransfer extends Transfer {
  readonly suggestedSessionId?: string | null;
}

/** A transfer to a recipient of this owner. */
export interface OwnedTransfer {
  readonly owner: Owner;
  readonly transfer: NewTransfer;
}

/** A transfer to an organization's recipient that matches none of its sessions. */
export interface UnmatchedTransfer extends Owner, Transfer {
  readonly id: string;
  /** Null until it has its confirmations. Before that it is listed only while its transaction is set aside. */
  readonly confirmedAt: number | null;
  /** The session that was the probable target when the transfer was confirmed. */
  readonly suggestedSessionId: string | null;
  readonly sessionId: string | null;
  readonly transactionId: string | null;
  readonly createdAt: number;
  /** Sum of its completed refunds (Decision 368). */
  readonly amountRefunded: bigint;
  /** Null unless it was assigned. */
  readonly assignedAt: number | null;
  readonly assignedBy: Actor | null;
  readonly assignedReason: string | null;
  /** Null unless it is dismissed. */
  readonly dismissedAt: number | null;
  readonly dismissedBy: Actor | null;
  readonly dismissedReason: string | null;
  /** Time at which its last dismissal was taken back. */
  readonly restoredAt: number | null;
  readonly restoredBy: Actor | null;
  readonly restoredReason: string | null;
}

/**
 * State of a listed transfer: waiting for its session, assigned to one, dismissed (Decision 346), sent back completely
 * (Decision 368), or waiting for the receipt of its transaction (Decision 290).
 */
export type TransferStatus = 'open' | 'assigned' | 'dismissed' | 'refunded' | 'set_aside';

/** State of a listed transfer. */
export function transferStatus({
  assignedAt,
  dismissedAt,
  confirmedAt,
  amount,
  amountRefunded,
}: UnmatchedTransfer): TransferStatus {
  if (assignedAt !== null) return 'assigned';
  if (confirmedAt === null) return 'set_aside';
  if (amountRefunded === amount) return 'refunded';
  return dismissedAt === null ? 'open' : 'dismissed';
}
