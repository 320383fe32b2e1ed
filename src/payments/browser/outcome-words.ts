import type { components } from '#generated/payments/types.ts';
import { FAILURE_SENTENCES } from './failure-words.ts';

type Schemas = components['schemas'];
type Outcome = Schemas['Outcome'];

/** Names and amounts in the words for a payer. Amounts are texts with the token's symbol. */
export interface PayerAmounts {
  readonly merchant: string;
  readonly price: string;
  readonly received: string;
  readonly missing: string;
  /** Amount beyond the price that is not sent back; empty for nothing. */
  readonly tooMuch: string;
  /** Empty when nothing was sent back. */
  readonly sentBack: string;
  /** Amount that open refunds are about to send back; empty for nothing. */
  readonly returning: string;
  /** `2 of 3 confirmations`. */
  readonly confirmations: string;
  readonly status: Schemas['SessionStatus'];
  /** True while the words stand above a way to pay. */
  readonly canPay: boolean;
  readonly isLate: boolean;
  readonly failureReason: Schemas['FailureReason'];
}

/** A state in words: a title and a sentence or more below it, which may be empty. */
export interface Words {
  readonly title: string;
  readonly text: string;
}

/** Words of an outcome for the payer (Decision 340). They name what is sent back. */
export function payerWords(outcome: Outcome, facts: PayerAmounts): Words {
  const { merchant, received, sentBack, returning, status } = facts;
  const { title, text } = PAYER_WORDS[outcome](facts);
  const isReturning = returning !== '' && status === 'active';
  const words = {
    title,
    text: isReturning ? `${text} ${merchant} is sending ${returning} back.`.trim() : text,
  };
  if (sentBack === '') return words;
  if (status !== 'expired') return { ...words, text: `${words.text} ${sentBack} was sent back.`.trim() };
  return {
    title: `${sentBack} was sent back`,
    text: `${received} had arrived. ${merchant} has sent back ${sentBack} of it. Please do not pay again.`,
  };
}

const PAYER_WORDS: Readonly<Record<Outcome, (facts: PayerAmounts) => Words>> = {
  waiting: () => ({ title: 'Waiting for your payment', text: '' }),

  expired: ({ merchant }) => ({
    title: 'This checkout has expired',
    text: `No payment was matched to it in time. Please do not send anything now. If you have paid, do not pay again: ask ${merchant}, and name the transaction.`,
  }),

  confirming: ({ merchant, confirmations, isLate }) => ({
    title: 'Payment detected, confirming',
    text: isLate
      ? `It arrived after the deadline and has ${confirmations}. ${merchant} can see it. Please do not pay again.`
      : `It has ${confirmations}. You may close this page: the payment counts without it.`,
  }),

  partial: ({ merchant, received, price, missing, status }) =>
    status === 'active'
      ? { title: `${missing} still to pay`, text: `${received} of ${price} received.` }
      : {
          title: `${received} arrived, ${missing} is missing`,
          text: `This checkout has ended, so please do not send the rest. ${merchant} can see what arrived: ask them to let it count or to send it back.`,
        },

  paid: ({ merchant }) => ({ title: 'Paid. Thank you!', text: `${merchant} has received your payment.` }),

  overpaid: ({ merchant, tooMuch }) =>
    tooMuch === ''
      ? {
          title: 'Paid. Thank you!',
          text: `${merchant} has received your payment, and more than was asked for.`,
        }
      : {
          title: `Paid. ${tooMuch} too much`,
          text: `${merchant} has received your payment, and ${tooMuch} more than was asked for. They can see that and can send it back.`,
        },

  paid_late: ({ merchant, received }) => ({
    title: 'Your payment arrived late',
    text: `${received} arrived after this checkout had ended. ${merchant} can see it, and can let it count or send it back. Please do not pay again.`,
  }),

  sold_out: ({ merchant }) => ({
    title: 'Sold out',
    text: `The last one was bought while this checkout was open. Please do not send anything. If you have paid, do not pay again: ${merchant} sees what arrives.`,
  }),

  paid_sold_out: ({ merchant, received }) => ({
    title: 'Sold out before your payment arrived',
    text: `${received} arrived after the last one had been bought. ${merchant} can see it, and can accept it or send it back. Please do not pay again.`,
  }),

  paid_unproven: ({ merchant, received }) => ({
    title: 'Your payment arrived and is being checked',
    text: `${received} arrived, but could not be proven by its block. ${merchant} can see it, and can accept it or send it back. Please do not pay again.`,
  }),

  dropped: facts => ({ title: 'The network dropped your payment', text: DROPPED[facts.status](facts) }),

  failed: ({ status, canPay, failureReason }) => ({
    title: 'The payment failed',
    text: `${failureReason === null ? '' : `${FAILURE_SENTENCES[failureReason]} `}Nothing was received.${
      status !== 'active'
        ? ' The time to pay has ended, so please do not send anything now.'
        : canPay
          ? ' You can try again below.'
          : ''
    }`,
  }),
};

/** Words for a payer while all uses of the link that are left are reserved for others (Decision 359). */
export const RESERVED_WORDS: Words = {
  title: 'All are reserved right now',
  text: 'Every one that is left is reserved for another buyer, or is being paid. Please do not send anything yet. If a buyer does not pay in time, you can pay here.',
};

const DROPPED: Readonly<Record<Schemas['SessionStatus'], (facts: PayerAmounts) => string>> = {
  active: ({ canPay }) =>
    `It had been confirmed and was dropped afterwards, which is very rare. It may come back.${
      canPay ? ' If your wallet does not show it any more, you can pay again below.' : ''
    }`,
  expired: ({ merchant }) =>
    `It had been confirmed and was dropped afterwards, which is very rare. It may come back. Please do not send anything now, and ask ${merchant}.`,
  completed: ({ merchant }) =>
    `It had been confirmed and was dropped afterwards, which is very rare. Please contact ${merchant} before you pay again.`,
};

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
