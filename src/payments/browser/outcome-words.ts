import type { components } from '#generated/payments/types.ts';
import type { PayerAmounts, Texts, Words } from './languages/en.ts';

type Schemas = components['schemas'];
type Outcome = Schemas['Outcome'];

/** Words of an outcome for the payer (Decision 340). They name what is sent back. */
export function payerWords(outcome: Outcome, facts: PayerAmounts, texts: Texts): Words {
  const { sentBack, returning, status, failureReason } = facts;
  const { outcomes, failures, sentBack: back } = texts;
  const words = outcomes[outcome](facts);
  const { title } = words;
  const failure = outcome === 'failed' && failureReason !== null ? failures[failureReason] : '';
  const coming = returning !== '' && status === 'active' ? back.returning(facts) : '';
  const text = joined(failure, words.text, coming);
  if (sentBack === '') return { title, text };
  return status === 'expired' ? back.ended(facts) : { title, text: joined(text, back.some(facts)) };
}

/** Sentences as one text. */
function joined(...sentences: readonly string[]): string {
  return sentences.filter(sentence => sentence !== '').join(' ');
}

/** Amount that was too much and is not sent back yet, in the token's smallest unit. */
export function leftTooMuch(
  session: Pick<Schemas['CheckoutSession'], 'amount_overpaid' | 'amount_refunded'>,
): bigint {
  const left = BigInt(session.amount_overpaid) - BigInt(session.amount_refunded);
  return left > 0n ? left : 0n;
}

/** Facts of a session from which its words for the merchant follow. */
export type MerchantFacts = Pick<
  Schemas['CheckoutSession'],
  'outcome' | 'status' | 'amount_received' | 'amount_overpaid' | 'amount_refunded'
>;

/** Amount that is not the price of a completed session and not sent back yet, in the token's smallest unit. */
export function leftToReturn(session: Omit<MerchantFacts, 'outcome'>): bigint {
  return session.status === 'completed'
    ? leftTooMuch(session)
    : BigInt(session.amount_received) - BigInt(session.amount_refunded);
}

/** Words of an outcome for the merchant, with the colour of its badge. */
interface MerchantWords {
  readonly tone: 'good' | 'bad' | 'warning' | 'busy' | 'plain';
  readonly badge: string;
  /** Sentences for a state that needs the merchant; empty for any other. */
  readonly text: string;
}

/** Words of each outcome for the merchant (Decision 340). */
export const MERCHANT_WORDS: Readonly<Record<Outcome, MerchantWords>> = {
  waiting: { tone: 'busy', badge: 'Open', text: '' },
  expired: { tone: 'plain', badge: 'Expired', text: '' },
  confirming: { tone: 'busy', badge: 'Confirming', text: '' },
  partial: { tone: 'warning', badge: 'Partly paid', text: 'Less than the price arrived.' },
  paid: { tone: 'good', badge: 'Completed', text: '' },
  overpaid: {
    tone: 'warning',
    badge: 'Overpaid',
    text: 'The checkout is completed. More arrived than it asked for, or it was paid twice: the rest belongs to the payer.',
  },
  paid_late: {
    tone: 'warning',
    badge: 'Paid late',
    text: 'The payment arrived after the checkout had ended, so it did not complete it.',
  },
  sold_out: { tone: 'plain', badge: 'Sold out', text: '' },
  paid_sold_out: {
    tone: 'warning',
    badge: 'Paid, sold out',
    text: 'The payment arrived after the last use of the link was taken, so it did not complete the checkout.',
  },
  paid_unproven: {
    tone: 'warning',
    badge: 'Paid, not proven',
    text: 'The payment is held, because its block could not be proven and this service requires it: accept it or send it back.',
  },
  dropped: {
    tone: 'bad',
    badge: 'Dropped by the chain',
    text: 'The chain dropped the payment after it had been confirmed. It may come back. Do not deliver before it does.',
  },
  failed: { tone: 'bad', badge: 'Payment failed', text: '' },
};

/**
 * Words of a session for the merchant. Once all that needed a decision was sent back, an ended session needs none, and its
 * badge says so.
 */
export function merchantWords(session: MerchantFacts): MerchantWords {
  const words = MERCHANT_WORDS[session.outcome];
  const isDone = words.tone === 'warning' && session.status !== 'active' && leftToReturn(session) <= 0n;
  if (!isDone) return words;
  return {
    tone: session.status === 'completed' ? 'good' : 'plain',
    badge: `${words.badge}, refunded`,
    text: '',
  };
}
