import { payerWords } from '../browser/outcome-words.ts';
import { FAILED_REFUND_WORDS, REFUND_WORDS } from '../browser/refund-words.ts';
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
  titled,
} from './content.ts';

/** Content for the payer, in the words of the pay page (Decisions 340, 358, 361 and 367). */
export function customerContent(event: PaymentEvent, merchant: Merchant, context: TextContext): Content {
  const { type, data } = event;
  if (isRefund(data)) return refundContent(type, data, { merchant, context });
  const { outcome, status, session, price, received, tooMuch, txHash } = moneyOf(event);
  const { chainName, amountOf } = chainWords(data, context);
  const missing = BigInt(price) - BigInt(received ?? 0);
  const { title, text } = payerWords(outcome, {
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
  });
  return {
    title: titled(`${merchant.name}: ${title}`, merchant),
    facts: given([
      ['Merchant', merchant.name],
      ['Product', session.name],
      ['Price', amountOf(price)],
      ['Received', received === null ? null : amountOf(received)],
      ['Chain', chainName],
      // Anyone can open a checkout with the address and a text for a stranger (Decision 361).
      ['Reference', outcome === 'sold_out' ? null : session.clientReferenceId],
      ['Transaction hash', txHash],
      ...contactFacts(merchant),
    ]),
    closing: text,
    replyTo: replyTo(merchant),
    ...checkoutLink(context, session),
  };
}

/** Ways to reach the merchant (Decision 444). */
function contactFacts({ contact }: Merchant): Fact[] {
  return [
    ['Contact', contact?.contactEmail ?? null],
    ['Website', contact?.siteUrl ?? null],
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

function checkoutLink({ publicUrl }: TextContext, { id }: { readonly id: string }) {
  const link = publicUrl === undefined ? undefined : `${publicUrl}/pay/s/${id}`;
  return { link, linkText: 'Open the checkout' };
}

function refundContent(
  type: EventType,
  data: EventData<'refund.created'>,
  { merchant, context }: { readonly merchant: Merchant; readonly context: TextContext },
): Content {
  const { chainName, amountOf } = chainWords(data, context);
  const { checkoutSession: session, destination_address: destination, failure_reason: failure } = data;
  const amount = amountOf(data.amount);
  const step = type === 'refund.created' ? 'created' : 'completed';
  const words = type === 'refund.failed' ? failure && FAILED_REFUND_WORDS[failure] : REFUND_WORDS[step];
  if (!words || session === null) throw new Error(`payers are not told of ${type} with ${failure}`);
  const { title, text } = words({ merchant: merchant.name, amount, destination });
  return {
    title: titled(`${merchant.name}: ${title}`, merchant),
    facts: given([
      ['Merchant', merchant.name],
      ['Product', session.name],
      ['Refund', amount],
      ['To', destination],
      ['Chain', chainName],
      ['Reference', session.clientReferenceId],
      ['Transaction hash', data.tx_hash],
      ...contactFacts(merchant),
    ]),
    closing: text,
    replyTo: replyTo(merchant),
    ...checkoutLink(context, session),
  };
}

/** Content of a mail with the link through which the payer states the address of a refund (Decision 363). */
export function refundLinkContent(
  { url, product, expiresAt }: Extract<NoticePayload, { kind: 'refund_link' }>,
  merchant: Merchant,
): Content {
  return {
    title: titled(`${merchant.name}: where a refund should go`, merchant),
    facts: given([
      ['Merchant', merchant.name],
      ['Product', product],
      ['The link works until', new Date(expiresAt).toISOString()],
    ]),
    closing:
      'Open the link and state an address of your own. It works once. It was asked for on the page of your checkout. If you did not ask for it, ignore this mail, and do not pass the link on.',
    link: url,
    linkText: 'State the address',
  };
}
