import type { components } from '#generated/payments/types.ts';

type Schemas = components['schemas'];
type Transfer = Schemas['PaymentTransaction'];

/** Ways in which a payment is recognized without a wallet that signs, for the merchant. */
export const METHOD_WORDS: Readonly<Record<Schemas['PaymentMethod'], string>> = {
  exact_amount: 'Exact amount',
  deposit_address: 'Deposit address',
};

/** Reason why a transfer is a payment of its checkout. Only a wallet that signed is a wallet (Decision 337). */
export const MATCH_WORDS: Readonly<Record<Transfer['matched_by'], string>> = {
  wallet: 'matched by the wallet that signed for this checkout',
  amount: 'matched by its exact amount',
  deposit_address: 'sent to the address of this checkout',
  assignment: 'assigned by hand',
  simulation: 'simulated',
};

/** Marks of a transfer that was not a plain payment. */
export type TransferMark = 'late' | 'duplicate' | 'partial';

/** Each mark in words. A transfer is late after the end of its checkout, and after the last use of its link. */
export const MARK_WORDS: Readonly<Record<TransferMark, string>> = {
  late: 'too late to complete the checkout',
  duplicate: 'another transfer had completed the checkout before',
  partial: 'less than the price',
};

/** Progress of a transfer's confirmations. */
export function confirmationsText({
  confirmations,
  required_confirmations: required,
}: Pick<Transfer, 'confirmations' | 'required_confirmations'>): string {
  return `${confirmations} of ${required} ${required === 1 ? 'confirmation' : 'confirmations'}`;
}

/** Proof of a completed transfer in words (Decision 385); undefined when it was not checked. */
export function proofWords({ proven }: Pick<Transfer, 'proven'>): string | undefined {
  if (proven === null) return undefined;
  return proven ? 'proven by its block' : 'not proven by its block';
}
