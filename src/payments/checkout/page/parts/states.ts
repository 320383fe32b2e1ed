import type { PaymentsSchemas } from '#contract/contracts/payments.ts';

type Checkout = PaymentsSchemas['Checkout'];
type CheckoutState = PaymentsSchemas['CheckoutState'];

/** A session as its page shows it. */
export interface SessionView {
  readonly checkout: Checkout;
  readonly state: CheckoutState;
  /** Whether the chain dropped the payment after it had completed the session. */
  readonly isReorged: boolean;
  /** UTC milliseconds. */
  readonly now: number;
}

/**
 * What the payer is told. `sent` is claimed and not seen yet, `closing` past its end and not yet decided, `late`
 * money that came after the end, `dropped` a payment that the network took back after the receipt.
 */
export type PageState =
  | 'awaiting'
  | 'sent'
  | 'confirming'
  | 'underpaid'
  | 'failed'
  | 'closing'
  | 'completed'
  | 'dropped'
  | 'late'
  | 'expired';

/** States in which the page asks for a payment. */
const PAYABLE: readonly PageState[] = ['awaiting', 'sent', 'underpaid', 'failed'];

export function pageState({ state, isReorged, now }: SessionView): PageState {
  const { status, payment_status: payment } = state;
  if (status === 'completed') return isReorged ? 'dropped' : 'completed';
  if (status === 'expired') {
    return state.late || payment === 'confirming' || BigInt(state.amount_received) > 0n ? 'late' : 'expired';
  }
  if (payment === 'confirming') return 'confirming';
  if (Date.parse(state.expires_at) <= now) return 'closing';
  if (payment === 'failed') return 'failed';
  if (payment === 'underpaid') return 'underpaid';
  return state.tx_hash === null ? 'awaiting' : 'sent';
}

export function isPayable(state: PageState): boolean {
  return PAYABLE.includes(state);
}

/** What a wallet that signed still owes, in smallest units: the rest of the price, without a tail. Decision 132. */
export function owedByWallet({ checkout, state }: SessionView): bigint {
  const missing = BigInt(checkout.amount) - BigInt(state.amount_received);
  return missing > 0n ? missing : 0n;
}

/**
 * What a transfer without the wallet button has to send, in smallest units. The first one is recognised by its exact
 * amount, later ones by the wallet that sent the first. Decisions 111 and 132.
 */
export function owedByTransfer(view: SessionView): bigint {
  const { state } = view;
  return BigInt(state.amount_received) === 0n ? BigInt(state.amount_due) : owedByWallet(view);
}
