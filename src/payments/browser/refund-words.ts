import type { components } from '#generated/payments/types.ts';

type Schemas = components['schemas'];
type FailureReason = Exclude<Schemas['RefundFailureReason'], null>;

/** Reasons for which a refund failed, as the end of a sentence for the merchant. */
export const REFUND_FAILURES: Readonly<Record<FailureReason, string>> = {
  reverted: 'its transaction failed',
  mismatch: 'its transaction does not send exactly this amount to this address, or is older than the refund',
  not_found: 'no node knows its transaction',
  reorged: 'the chain dropped its transaction',
  cancelled: 'it was cancelled',
  expired: 'it was not sent in time',
};
