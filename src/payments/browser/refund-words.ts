import type { components } from '#generated/payments/types.ts';
import type { Words } from './outcome-words.ts';

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

/** Names in the words for a payer. The amount is a text with the token's symbol. */
interface RefundNames {
  readonly merchant: string;
  readonly amount: string;
  readonly destination: string;
}

/** Words for the payer about a refund that is planned, or has arrived (Decision 367). */
export const REFUND_WORDS: Readonly<Record<'created' | 'completed', (names: RefundNames) => Words>> = {
  created: ({ merchant, amount, destination }) => ({
    title: `${amount} will be sent back`,
    text: `${merchant} has prepared a refund of ${amount} to ${destination}. Nothing was sent yet. If this is not your address, tell ${merchant} at once, because a transfer cannot be taken back.`,
  }),
  completed: ({ merchant, amount, destination }) => ({
    title: `${amount} was sent back`,
    text: `${merchant} has sent ${amount} to ${destination}, and the network has confirmed it.`,
  }),
};

/** The same about a refund that did not happen. Other reasons change nothing that a payer was told. */
export const FAILED_REFUND_WORDS: Readonly<Partial<Record<FailureReason, (names: RefundNames) => Words>>> = {
  reorged: ({ merchant, amount }) => ({
    title: 'The network dropped your refund',
    text: `The refund of ${amount} had been confirmed and was dropped afterwards, which is very rare. It may come back. If it does not, ${merchant} can send it again.`,
  }),
  cancelled: ({ merchant, amount }) => ({
    title: 'Your refund was cancelled',
    text: `${merchant} has cancelled the refund of ${amount}. It was not seen on the network. If you still expect it, ask ${merchant}.`,
  }),
  expired: ({ merchant, amount }) => ({
    title: 'Your refund was not sent in time',
    text: `The refund of ${amount} has expired. It was not seen on the network. If you still expect it, ask ${merchant}.`,
  }),
};
