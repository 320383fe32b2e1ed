import type { Owner } from './owner.ts';

/** The place of native coins among the logs of a transaction: they have none. */
export const NO_LOG = -1;

/** A transfer to a watched recipient as a block has it. Hex is lower case, times are UTC milliseconds. */
export interface Transfer {
  readonly chainId: number;
  readonly txHash: string;
  /** `NO_LOG` for native coins. */
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

/** A transfer to a recipient of an organization that matches no session of it. */
export interface UnmatchedTransfer extends Owner, Transfer {
  readonly id: string;
  /** Null until it has its confirmations; only then it is listed. */
  readonly confirmedAt: number | null;
  /** The session that it was probably meant for, as it looked when the transfer was recorded. */
  readonly suggestedSessionId: string | null;
  readonly sessionId: string | null;
  readonly transactionId: string | null;
  readonly createdAt: number;
  /** Null while it is open. */
  readonly assignedAt: number | null;
}
