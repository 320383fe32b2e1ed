import type { components } from '#generated/payments/types.ts';

type ReportResult = components['schemas']['ReportedPayment']['found'];

/** Sentences about transfers that could be the payer's (Decision 342). `amounts` are texts, at least one. */
export function candidateText({
  amounts,
  isOnly,
  isOpen,
  merchant,
}: {
  readonly amounts: readonly string[];
  /** True when there is one, and it could be of no other payer. */
  readonly isOnly: boolean;
  /** True when the checkout can still be paid. */
  readonly isOpen: boolean;
  readonly merchant: string;
}): string {
  const proof = `do not pay again: prove it by signing with the wallet that sent it, or ask ${merchant}`;
  if (isOnly)
    return `A payment of ${amounts[0]} arrived that could be yours. If it is, ${proof} to assign it.`;
  const several = amounts.length > 1;
  const isOneAmount = new Set(amounts).size === 1;
  const arrived = !several
    ? `A payment of ${amounts[0]} arrived.`
    : isOneAmount
      ? `${amounts.length} payments of ${amounts[0]} arrived.`
      : `Payments of ${LIST.format(amounts)} arrived.`;
  return `${arrived} If ${several ? 'one of them' : 'it'} was yours, ${proof}.${isOpen ? ' Others can pay as before.' : ''}`;
}

const LIST = new Intl.ListFormat('en');

/** Advice where no wallet is at hand. */
export const PROOF_HINT = 'To prove it, open this page in the wallet that sent it. Signing moves no money.';

/** Sentence about a payment that the payer reported (Decision 343). */
export const REPORT_WORDS: Readonly<Record<ReportResult, (merchant: string) => string>> = {
  counted: () => 'This payment is known and belongs to this checkout.',
  candidate: merchant =>
    `It arrived. To count, it has to be proved by signing with the wallet that sent it, or assigned by ${merchant}. Please do not pay again.`,
  other: merchant =>
    `This payment counts for another checkout. If that is a mistake, ask ${merchant}, and do not pay again.`,
  searching: () =>
    'The network is still being asked about it. Please try again in a minute. What was sent is not lost.',
  pending: () =>
    'It was sent and is not in a block yet. It appears on this page once it is. Please do not send it again.',
  failed: () =>
    'This transaction failed on the network, so it moved no money. If it was your payment, you can send it again.',
  no_payment: merchant =>
    `This transaction sends nothing to this checkout’s address that could pay it. Check its token and address, or ask ${merchant}.`,
  disputed: () =>
    'The servers of the network contradict each other about it, so nothing is recorded yet. Please try again in a few minutes, and do not send it again.',
  unknown: merchant =>
    `No such payment to this checkout’s address is known yet. Check its network and address, and try again in a few minutes, or ask ${merchant}.`,
};
