import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { DAY_MS } from '../../lib/clock.ts';
import type { Actor, BrandedMerchant, Owner } from './owner.ts';

export type SessionStatus = PaymentsSchemas['SessionStatus'];
type PaymentStatus = PaymentsSchemas['PaymentStatus'];
export type PaymentMethod = PaymentsSchemas['PaymentMethod'];
export type EndedReason = PaymentsSchemas['EndedReason'];
export type FailureReason = Exclude<PaymentsSchemas['FailureReason'], null>;

/** Longest lifetime of a session, in milliseconds (Decision 110). */
export const LONGEST_SESSION_MS = DAY_MS;

/**
 * Life of a session in the time of blocks, which alone says whether a payment was in time (Decision 314): from
 * `beforeMs` before its creation, because our clock may be ahead of the chain's, to `afterMs` after its end, because a
 * transfer waits for its block.
 */
export const LIFE_ALLOWANCE = { beforeMs: 5 * 60_000, afterMs: 15_000 } as const;

/** Limit of payments per session. Settling one payment reads all of them, so thousands of parts would be too slow. */
export const MAX_PAYMENTS = 100;

/**
 * Terms of a session that the pay page shows. They are copied at the start, so later changes of the link do not affect
 * them.
 */
export interface Presentation {
  readonly name: string | null;
  readonly description: string | null;
  readonly imageUrl: string | null;
  readonly themeColor: string | null;
  readonly buttonText: string;
  readonly returnLabel: string | null;
  readonly merchant: BrandedMerchant;
  readonly items: readonly PaymentsSchemas['Item'][];
  /** Labels of the form's fields by their ids; absent in sessions that an older version opened. */
  readonly formLabels?: Readonly<Record<string, string>>;
  /** Language of the payer (Decision 445); absent when it is not known. */
  readonly language?: string;
}

/**
 * A checkout session as it is stored. Amounts in the token's smallest unit, addresses lower case, times UTC
 * milliseconds.
 */
export interface CheckoutSession extends Owner {
  readonly id: string;
  readonly paymentLinkId: string | null;
  readonly status: SessionStatus;
  readonly paymentStatus: PaymentStatus;
  readonly chainId: number;
  readonly tokenAddress: string;
  readonly recipientAddress: string;
  /** Price without shipping. */
  readonly subtotal: bigint;
  /** Price with shipping. A known wallet pays exactly this. */
  readonly amount: bigint;
  /**
   * The price and a random tail. No two open sessions with the same chain, token and recipient have the same amount
   * due.
   */
  readonly amountDue: bigint;
  /** Part of the price that may be missing if the payer is certain (Decision 348), in hundredths of a percent. */
  readonly toleranceBps: number;
  /**
   * True when it asks for no exact amount: none was free, so that only a wallet that signed can pay, or it has a deposit
   * address.
   */
  readonly isWalletOnly: boolean;
  /** Address of its own to which any amount may be sent (Decision 396); null for none. */
  readonly depositAddress: string | null;
  /** Sum of its completed transactions, of every sender and with every mark (Decision 345). */
  readonly amountReceived: bigint;
  /** Sum of its completed refunds (Decision 350). */
  readonly amountRefunded: bigint;
  /** Sum of its refunds that are not cancelled, the completed ones included (Decision 368). */
  readonly amountReserved: bigint;
  /** Confirmed money beyond what the session asks for. */
  readonly amountOverpaid: bigint;
  readonly presentation: Presentation;
  /** The wallet that signed for it, which makes each of its transfers a payment of the session (Decision 337). */
  readonly signedAddress: string | null;
  /** The wallet that signed, while no other one has paid. */
  readonly payerAddress: string | null;
  /** The latest paying transaction that was claimed or seen. */
  readonly txHash: string | null;
  readonly confirmations: number;
  readonly requiredConfirmations: number;
  /** The transaction that completed the session, or the latest completed one when it was accepted. */
  readonly transactionId: string | null;
  readonly failureReason: FailureReason | null;
  readonly isLate: boolean;
  readonly isReorged: boolean;
  /** End of the reservation of a use of its link, also of one that has ended; null for none (Decision 359). */
  readonly useReservedUntil: number | null;
  /** Time at which the merchant accepted it as paid; null when it was not accepted. */
  readonly acceptedAt: number | null;
  readonly acceptedBy: Actor | null;
  readonly acceptedReason: string | null;
  /** Sum of the payments that were accepted. They are what the session costs from then on. */
  readonly acceptedAmount: bigint | null;
  readonly successUrl: string | null;
  readonly cancelUrl: string | null;
  readonly clientReferenceId: string | null;
  readonly metadata: PaymentsSchemas['Metadata'];
  /** `NO_CUSTOMER_ID` for none; null in sessions of older versions that were not looked at yet. */
  readonly customerId: string | null;
  readonly customerEmail: string | null;
  readonly customerName: string | null;
  readonly formData: PaymentsSchemas['FormValues'] | null;
  readonly shippingAddress: PaymentsSchemas['ShippingAddress'] | null;
  readonly shippingOption: PaymentsSchemas['ShippingOption'] | null;
  readonly expiresAt: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly completedAt: number | null;
  /** Null unless it ended without being completed. */
  readonly endedReason: EndedReason | null;
  /** Time of its completion or expiry. */
  readonly endedAt: number | null;
}

/** Personal data of the payer, stored only encrypted. */
export type Customer = Pick<
  CheckoutSession,
  'customerEmail' | 'customerName' | 'formData' | 'shippingAddress'
>;

/** A payer who left an email address or signed with a wallet (Decision 438). Times are UTC milliseconds. */
export interface CustomerRecord extends Owner {
  readonly id: string;
  /** Lower case. */
  readonly walletAddress: string | null;
  readonly email: string | null;
  /** The name in the session that was completed last and has one. */
  readonly name: string | null;
  /** Time of the latest completion of a session; null when none was completed. */
  readonly lastPurchaseAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** `customerId` of a session whose payer left neither an email address nor a signature. */
export const NO_CUSTOMER_ID = '';

/** State of a session that a payer follows during the payment. */
export type SessionState = Pick<
  CheckoutSession,
  | 'id'
  | 'chainId'
  | 'status'
  | 'paymentStatus'
  | 'amount'
  | 'amountDue'
  | 'isWalletOnly'
  | 'depositAddress'
  | 'amountReceived'
  | 'amountOverpaid'
  | 'amountRefunded'
  | 'amountReserved'
  | 'payerAddress'
  | 'txHash'
  | 'confirmations'
  | 'requiredConfirmations'
  | 'failureReason'
  | 'isLate'
  | 'endedReason'
  | 'isReorged'
  | 'useReservedUntil'
  | 'paymentLinkId'
  | 'successUrl'
  | 'expiresAt'
  | 'completedAt'
> & {
  /** True when the last use of the session's link is taken. */
  readonly isSoldOut: boolean;
  /** True when the session's link reserves uses. */
  readonly reservesUses: boolean;
};

/**
 * True while a use of its link is reserved for a session (Decision 359). `HOLDS_USE` of the link store is the same in SQL.
 */
export function holdsUse(
  {
    status,
    paymentStatus,
    useReservedUntil,
  }: Pick<CheckoutSession, 'status' | 'paymentStatus' | 'useReservedUntil'>,
  now: number,
): boolean {
  if (status !== 'active' || useReservedUntil === null) return false;
  return paymentStatus === 'confirming' || useReservedUntil > heldSince(now);
}

/** Time before which reservations of uses have ended. UTC milliseconds. */
export function heldSince(now: number): number {
  return now - LIFE_ALLOWANCE.afterMs;
}

/** Address to which its payer sends the money. */
export function payableAddress({
  depositAddress,
  recipientAddress,
}: Pick<CheckoutSession, 'depositAddress' | 'recipientAddress'>): string {
  return depositAddress ?? recipientAddress;
}

/** The way in which its payment is recognized without a wallet that signs. */
export function paymentMethodOf({ depositAddress }: Pick<CheckoutSession, 'depositAddress'>): PaymentMethod {
  return depositAddress === null ? 'exact_amount' : 'deposit_address';
}

/** Amount that is missing of the price (Decision 396). */
export function remainingAmount({
  status,
  amount,
  amountReceived,
  amountReserved,
}: Pick<CheckoutSession, 'status' | 'amount' | 'amountReceived' | 'amountReserved'>): bigint {
  const missing = amount - amountReceived + amountReserved;
  return status === 'completed' || missing < 0n ? 0n : missing;
}

/** A price, and the part of it that a certain payer may leave out, in hundredths of a percent. */
type TolerantPrice = Pick<CheckoutSession, 'amount' | 'toleranceBps'>;

/** Least sum that a certain payer has to send. What may be missing is rounded down (Decision 348). */
export function leastSum({ amount, toleranceBps }: TolerantPrice): bigint {
  return amount - (amount * BigInt(toleranceBps)) / 10_000n;
}

/** True for a payment of at least `leastSum` divided by `MAX_PAYMENTS`. */
export function isLargePart(price: TolerantPrice, amount: bigint): boolean {
  return amount * BigInt(MAX_PAYMENTS) >= leastSum(price);
}

/**
 * Number of payments after which one of this amount does not count at a deposit address. A stranger can use up the first
 * ones with dust, but the further ones, which are for large parts, only by paying the price (Decision 396).
 */
export function mostPaymentsAtAddress(price: TolerantPrice, amount: bigint): number {
  return isLargePart(price, amount) ? 2 * MAX_PAYMENTS : MAX_PAYMENTS;
}

/** True for less than the price that is enough from a certain payer. */
export function isTolerated(price: TolerantPrice, sum: bigint): boolean {
  return sum < price.amount && sum >= leastSum(price);
}

/** A tolerance in percent, as the contract has it, with at most two decimal places. */
export function bpsOf(percent: number): number {
  return Math.round(percent * 100);
}

/** The percentage of a tolerance. */
export function percentOf(toleranceBps: number): number {
  return toleranceBps / 100;
}
