import { getAddress } from 'viem';
import type { Texts } from '../browser/languages/en.ts';
import { directionOf, textsIn } from '../browser/languages/languages.ts';
import { localNumber } from '../browser/languages/local-number.ts';
import { payerWords } from '../browser/outcome-words.ts';
import type { EventData, EventType, PaymentEvent } from '../model/event.ts';
import { isRefund, type NoticePayload } from '../model/notification.ts';
import {
  type Content,
  chainWords,
  type Fact,
  given,
  type Merchant,
  reportedOutcome,
  type TextContext,
} from './content.ts';

/** Content for the payer, in the words of the pay page (Decisions 340, 358, 361 and 367). */
export function customerContent(event: PaymentEvent, merchant: Merchant, context: TextContext): Content {
  const { type, data } = event;
  if (isRefund(data)) return refundContent(type, data, { merchant, context });
  const { outcome, status, session, price, received, tooMuch, txHash } = moneyOf(event);
  const texts = textsIn(context.order?.language);
  const { mail } = texts;
  const { chainName, amountOf: plainAmountOf } = chainWords(data, context);
  const amountOf = localAmounts(texts, plainAmountOf);
  const missing = BigInt(price) - BigInt(received ?? 0);
  const facts = {
    merchant: merchant.name,
    price: amountOf(price),
    received: amountOf(received ?? 0n),
    missing: amountOf(missing > 0n ? missing : 0n),
    tooMuch: amountOf(tooMuch ?? 0n),
    sentBack: '',
    returning: '',
    confirmations: '',
    status,
    canPay: false,
    isLate: false,
    failureReason: null,
  };
  const { title, text } = payerWords(outcome, facts, texts);
  return {
    title: titleFor(merchant, `${merchant.name}: ${title}`, texts),
    language: languageOf(texts),
    facts: given([
      [mail.merchant, merchant.name],
      [mail.product, session.name],
      ...orderOf(context, texts),
      [mail.price, amountOf(price)],
      [mail.received, received === null ? null : amountOf(received)],
      [mail.chain, chainName],
      // Anyone can open a checkout with the address and a text for a stranger (Decision 361).
      [mail.reference, outcome === 'sold_out' ? null : session.clientReferenceId],
      [mail.transaction, txHash],
      ...contactFacts(merchant, texts),
    ]),
    closing: text,
    replyTo: replyTo(merchant),
    ...checkoutLink(context, session, texts),
  };
}

/** Ways to reach the merchant (Decision 444). */
function contactFacts({ contact }: Merchant, { mail }: Texts): Fact[] {
  return [
    [mail.contact, contact?.contactEmail ?? null],
    [mail.website, contact?.siteUrl ?? null],
  ];
}

function replyTo({ contact }: Merchant): string | undefined {
  return contact?.contactEmail ?? undefined;
}

/** Money of a checkout as its event reports it, in smallest units. None arrived at one that sold out. */
function moneyOf({ type, data }: PaymentEvent) {
  if ('total' in data) {
    const { checkoutSession: session, total: price, amount: received, tx_hash: txHash } = data;
    return { outcome: 'paid', status: 'completed', session, price, received, tooMuch: null, txHash } as const;
  }
  if ('expired_at' in data) {
    const { checkoutSession: session, status, amount: price } = data;
    const nothing = { received: null, tooMuch: null, txHash: null };
    return { outcome: 'sold_out', status, session, price, ...nothing } as const;
  }
  if (!('amount_received' in data)) throw new Error(`payers are not told of ${type}`);
  const { checkoutSession: session, status, amount: price, amount_received: received } = data;
  const { overpaid_amount: tooMuch, tx_hash: txHash } = data;
  return { outcome: reportedOutcome(data), status, session, price, received, tooMuch, txHash };
}

function checkoutLink({ publicUrl }: TextContext, { id }: { readonly id: string }, { mail }: Texts) {
  const link = publicUrl === undefined ? undefined : `${publicUrl}/pay/s/${id}`;
  return { link, linkText: mail.openCheckout };
}

function refundContent(
  type: EventType,
  data: EventData<'refund.created'>,
  { merchant, context }: { readonly merchant: Merchant; readonly context: TextContext },
): Content {
  const texts = textsIn(context.order?.language);
  const { mail, refund } = texts;
  const { chainName, amountOf } = chainWords(data, context);
  const { checkoutSession: session, failure_reason: failure } = data;
  const destination = getAddress(data.destination_address); // people compare it with their own
  const amount = localAmounts(texts, amountOf)(data.amount);
  const step = type === 'refund.created' ? 'created' : 'completed';
  const words = type === 'refund.failed' ? failedRefund(failure, texts) : refund[step];
  if (!words || session === null) throw new Error(`payers are not told of ${type} with ${failure}`);
  const { title, text } = words({ merchant: merchant.name, amount, destination });
  return {
    title: titleFor(merchant, `${merchant.name}: ${title}`, texts),
    language: languageOf(texts),
    facts: given([
      [mail.merchant, merchant.name],
      [mail.product, session.name],
      [mail.refund, amount],
      [mail.to, destination],
      [mail.chain, chainName],
      [mail.reference, session.clientReferenceId],
      [mail.transaction, data.tx_hash],
      ...contactFacts(merchant, texts),
    ]),
    closing: text,
    replyTo: replyTo(merchant),
    ...checkoutLink(context, session, texts),
  };
}

/** Words about a refund that did not happen. Other reasons change nothing that a payer was told. */
function failedRefund(failure: EventData<'refund.created'>['failure_reason'], { refund }: Texts) {
  return failure === 'reorged' || failure === 'cancelled' || failure === 'expired'
    ? refund[failure]
    : undefined;
}

/** Content of a mail with the link through which the payer states the address of a refund (Decision 363). */
export function refundLinkContent(
  { url, product, expiresAt, language }: Extract<NoticePayload, { kind: 'refund_link' }>,
  merchant: Merchant,
): Content {
  const texts = textsIn(language);
  const { mail, locale } = texts;
  const time = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  return {
    title: titleFor(merchant, mail.linkTitle(merchant.name), texts),
    language: languageOf(texts),
    facts: given([
      [mail.merchant, merchant.name],
      [mail.product, product],
      [mail.linkUntil, `${time.format(expiresAt)} UTC`],
      ...contactFacts(merchant, texts),
    ]),
    closing: mail.linkText,
    replyTo: replyTo(merchant),
    link: url,
    linkText: mail.stateAddress,
  };
}

function titleFor({ mode }: Merchant, title: string, { mail }: Texts): string {
  return mode === 'test' ? mail.test(title) : title;
}

function languageOf(texts: Texts): Content['language'] {
  return { code: texts.language, direction: directionOf(texts) };
}

/** Items of the order, and how it is shipped (Decision 446). */
function orderOf({ order }: TextContext, { mail }: Texts): Fact[] {
  const items = (order?.items ?? []).map(({ quantity, name }) =>
    quantity > 1 ? `${quantity} × ${name}` : name,
  );
  return [
    [mail.items, items.join(', ')],
    [mail.shipping, order?.shipping ?? null],
  ];
}

/** Amounts with their symbols as a language writes them. */
function localAmounts(texts: Texts, amountOf: (units: bigint | string) => string) {
  return (units: bigint | string) => {
    const [number = '', ...symbol] = amountOf(units).split(' ');
    return [localNumber(texts, number), ...symbol].join(' ');
  };
}
