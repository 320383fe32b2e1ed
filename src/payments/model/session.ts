import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { DAY_MS } from '../../lib/clock.ts';
import type { Owner } from './owner.ts';

export type SessionStatus = PaymentsSchemas['SessionStatus'];
export type PaymentStatus = PaymentsSchemas['PaymentStatus'];
export type FailureReason = Exclude<PaymentsSchemas['FailureReason'], null>;

/** The longest time from the opening of a session to its end, in milliseconds. Decision 110. */
export const LONGEST_SESSION_MS = DAY_MS;

/** What the pay page shows of the terms with which a session began; later changes of its link do not reach it. */
export interface Presentation {
  readonly name: string | null;
  readonly description: string | null;
  readonly imageUrl: string | null;
  readonly themeColor: string | null;
  readonly buttonText: string;
  readonly returnLabel: string | null;
  readonly merchant: PaymentsSchemas['Merchant'];
  readonly items: readonly PaymentsSchemas['Item'][];
}

/** A checkout session as it is stored. Amounts in the token's smallest unit, addresses lower case, times UTC milliseconds. */
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
  /** Price with shipping: what a known wallet owes. */
  readonly amount: bigint;
  /** The price and a random tail: no two open sessions of one chain, token and recipient ask for the same. */
  readonly amountDue: bigint;
  /** No exact amount was free: only a wallet that signed can pay. */
  readonly isWalletOnly: boolean;
  /** Confirmed so far. */
  readonly amountReceived: bigint;
  readonly presentation: Presentation;
  /** The wallet that signed, or that paid. */
  readonly payerAddress: string | null;
  /** The latest paying transaction that was claimed or seen. */
  readonly txHash: string | null;
  readonly confirmations: number;
  readonly requiredConfirmations: number;
  /** The transaction that completed the session. */
  readonly transactionId: string | null;
  readonly failureReason: FailureReason | null;
  readonly isLate: boolean;
  readonly isReorged: boolean;
  readonly successUrl: string | null;
  readonly cancelUrl: string | null;
  readonly clientReferenceId: string | null;
  readonly metadata: PaymentsSchemas['Metadata'];
  readonly customerEmail: string | null;
  readonly customerName: string | null;
  readonly formData: PaymentsSchemas['FormValues'] | null;
  readonly shippingAddress: PaymentsSchemas['ShippingAddress'] | null;
  readonly shippingOption: PaymentsSchemas['ShippingOption'] | null;
  readonly expiresAt: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly completedAt: number | null;
  /** When it was completed or expired. */
  readonly endedAt: number | null;
}

/** What a payer follows of a session while it is paid. */
export type SessionState = Pick<
  CheckoutSession,
  | 'id'
  | 'chainId'
  | 'status'
  | 'paymentStatus'
  | 'amountDue'
  | 'isWalletOnly'
  | 'amountReceived'
  | 'payerAddress'
  | 'txHash'
  | 'confirmations'
  | 'requiredConfirmations'
  | 'failureReason'
  | 'isLate'
  | 'successUrl'
  | 'expiresAt'
  | 'completedAt'
>;
