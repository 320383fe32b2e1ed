import type { components } from '#generated/payments/types.ts';

type ReportResult = components['schemas']['ReportedPayment']['found'];

/** Sentences about a transfer that could be the payer's (Decision 342). */
export function candidateText({
  amount,
  isOnly,
  merchant,
}: {
  readonly amount: string;
  readonly isOnly: boolean;
  readonly merchant: string;
}): string {
  return isOnly
    ? `A payment of ${amount} arrived that could be yours. If it is, do not pay again: prove it by signing with the wallet that sent it, or ask ${merchant} to assign it.`
    : `A payment of ${amount} arrived. If it was yours, do not pay again: prove it by signing with the wallet that sent it, or ask ${merchant}. Others can pay as before.`;
}

/** Advice where no wallet is at hand. */
export const PROOF_HINT = 'To prove it, open this page in the wallet that sent it. Signing moves no money.';

/** Sentence about a payment that the payer reported (Decision 343). */
export const REPORT_WORDS: Readonly<Record<ReportResult, (merchant: string) => string>> = {
  counted: () => 'This payment is known and belongs to this checkout.',
  candidate: merchant =>
    `It arrived. To count, it has to be proved by signing with the wallet that sent it, or assigned by ${merchant}. Please do not pay again.`,
  other: merchant =>
    `This payment counts for another checkout. If that is a mistake, ask ${merchant}, and do not pay again.`,
  unknown: merchant =>
    `No such payment to this checkout’s address is known yet. A payment appears here once it is confirmed. Check its network and address, and try again in a few minutes, or ask ${merchant}.`,
};
