import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { DAY_MS } from '../../lib/clock.ts';
import type { Actor, Owner } from './owner.ts';
import { isReserved, type PaidAddress } from './payment-chain.ts';

export type RefundStatus = PaymentsSchemas['RefundStatus'];
export type RefundFailureReason = Exclude<PaymentsSchemas['RefundFailureReason'], null>;
export type DestinationSource = PaymentsSchemas['DestinationSource'];

/** Time after which a refund without a transfer expires, from its creation or its last failure (Decision 350). */
export const REFUND_LIFETIME_MS = 7 * DAY_MS;

/** Sources of destinations that the payer has proved (Decision 351). */
const PROVED: readonly DestinationSource[] = ['signed_wallet', 'payer_signature', 'payer_email'];

export function isProved(source: DestinationSource): boolean {
  return PROVED.includes(source);
}

/** Rule that a destination breaks at which money would be lost or pay again, for the message about it; undefined for none. */
export function brokenDestinationRule(
  address: string,
  {
    tokenAddress,
    recipientAddress,
    depositAddress,
  }: Pick<PaidAddress, 'tokenAddress' | 'recipientAddress'> & { readonly depositAddress: string | null },
): string | undefined {
  if (!isReserved(address) && ![tokenAddress, recipientAddress, depositAddress].includes(address))
    return undefined;
  return 'must not be the zero address, the system address, the contract of the token, or an address at which the payment arrives';
}

/** The address that the payer of a session stated for a refund. `statedAt` is UTC milliseconds. */
export interface StatedAddress {
  readonly sessionId: string;
  /** Lower case. */
  readonly address: string;
  /** True when the payer has proved it. */
  readonly isProved: boolean;
  /** True when its proof is a mailed link; a proof is a signature otherwise. */
  readonly isByEmail: boolean;
  /** Number of statements of the session with a signature. It is part of the text to sign. */
  readonly proofs: number;
  readonly previousAddress: string | null;
  readonly statedAt: number;
}

/** The money that a refund sends back. An unmatched transfer gains session and transaction when it is assigned. */
export interface RefundedMoney {
  readonly sessionId: string | null;
  readonly transactionId: string | null;
  readonly unmatchedTransferId: string | null;
}

/**
 * Money that a wallet of the merchant sends back. Hex is lower case, the amount in the token's smallest unit, times are
 * UTC milliseconds.
 */
export interface Refund extends Owner, RefundedMoney {
  readonly id: string;
  readonly status: RefundStatus;
  readonly chainId: number;
  readonly tokenAddress: string;
  readonly amount: bigint;
  /** Address at which the payment arrived. */
  readonly recipient: string;
  readonly destination: string;
  readonly destinationSource: DestinationSource;
  readonly txHash: string | null;
  /** Null until the transfer was seen; `NO_LOG` for coins that were read from their transaction. */
  readonly logIndex: number | null;
  readonly blockNumber: number | null;
  readonly blockHash: string | null;
  readonly confirmations: number;
  readonly requiredConfirmations: number;
  readonly failureReason: RefundFailureReason | null;
  /** Reason of the refund, in the merchant's words. */
  readonly reason: string | null;
  readonly createdBy: Actor;
  readonly completedBy: Actor | null;
  readonly cancelledBy: Actor | null;
  readonly cancelledReason: string | null;
  /** The last block that a watcher had read when it was created; null before the first look at its chain. */
  readonly afterBlock: number | null;
  /** Time since which its transaction is looked for; null while it has none. */
  readonly searchedSince: number | null;
  readonly expiresAt: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly completedAt: number | null;
  /** Time of its cancellation or expiry. */
  readonly cancelledAt: number | null;
}
