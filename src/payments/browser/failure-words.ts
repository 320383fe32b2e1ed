import type { components } from '#generated/payments/types.ts';

type FailureReason = Exclude<components['schemas']['FailureReason'], null>;

/** Reason of a failed payment, as the rest of a sentence for the merchant. */
export const FAILURE_WORDS: Readonly<Record<FailureReason, string>> = {
  reverted: 'the transaction was reverted by the chain',
  cancelled: 'the payer cancelled the transaction',
  replaced: 'the payer replaced the transaction with another one',
  not_found: 'the transaction never appeared on the chain',
  reorged: 'the chain dropped the block of the transaction',
  simulated: 'it is a simulated failure',
};
