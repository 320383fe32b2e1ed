import { payerWords } from '../browser/outcome-words.ts';
import { FAILED_REFUND_WORDS, REFUND_WORDS } from '../browser/refund-words.ts';
import type { EventData, EventType, PaymentEvent } from '../model/event.ts';
import { isRefund, type NoticePayload } from '../model/notification.ts';
import {
  type Content,
  type Fact,
  given,
  type Merchant,
  reportedOutcome,
  shownAmount,
  type TextContext,
  titled,
} from './content.ts';

/** Content for the payer, in the words of the pay page (Decisions 340, 358, 361 and 367). */
export function customerContent(
  { type, data }: PaymentEvent,
  merchant: Merchant,
  context: TextContext,
): Content {
  if (isRefund(data)) return refundContent(type, data, { merchant, context });
  const { chains, publicUrl } = context;
  const chain = chains.all.find(({ id }) => id === data.chain_id);
  const amountOf = (units: bigint | string) => shownAmount(`${units}`, data, chain);
  const isPaid = 'total' in data;
  const isSoldOut = 'expired_at' in data;
  if (!isPaid && !isSoldOut && !('amount_received' in data))
    throw new Error(`payers are not told of ${type}`);
  const price = BigInt(isPaid ? data.total : data.amount);
  const received = isSoldOut ? 0n : BigInt(isPaid ? data.amount : data.amount_received);
  const missing = price > received ? price - received : 0n;
  const session = data.checkoutSession;
  const outcome = isPaid ? 'paid' : isSoldOut ? 'sold_out' : reportedOutcome(data);
  const { title, text } = payerWords(outcome, {
    merchant: merchant.name,
    price: amountOf(price),
    received: amountOf(received),
    missing: amountOf(missing),
    tooMuch: amountOf((isPaid || isSoldOut ? null : data.overpaid_amount) ?? 0n),
    sentBack: '',
    returning: '',
    confirmations: '',
    status: isPaid ? 'completed' : data.status,
    canPay: false,
    isLate: false,
    failureReason: null,
  });
  const facts: Fact[] = [
    ['Merchant', merchant.name],
    ['Product', session.name],
    ['Price', amountOf(price)],
    ['Received', isSoldOut ? null : amountOf(received)],
    ['Chain', chain?.name ?? `chain ${data.chain_id}`],
    // Anyone can open a checkout with the address and a text for a stranger (Decision 361).
    ['Reference', isSoldOut ? null : session.clientReferenceId],
    ['Transaction hash', isSoldOut ? null : data.tx_hash],
  ];
  return {
    title: titled(`${merchant.name}: ${title}`, merchant),
    facts: given(facts),
    closing: text,
    link: publicUrl === undefined ? undefined : `${publicUrl}/pay/s/${session.id}`,
    linkText: 'Open the checkout',
  };
}

function refundContent(
  type: EventType,
  data: EventData<'refund.created'>,
  {
    merchant,
    context: { chains, publicUrl },
  }: { readonly merchant: Merchant; readonly context: TextContext },
): Content {
  const chain = chains.all.find(({ id }) => id === data.chain_id);
  const { checkoutSession: session, destination_address: destination, failure_reason: failure } = data;
  const amount = shownAmount(data.amount, data, chain);
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
      ['Chain', chain?.name ?? `chain ${data.chain_id}`],
      ['Reference', session.clientReferenceId],
      ['Transaction hash', data.tx_hash],
    ]),
    closing: text,
    link: publicUrl === undefined ? undefined : `${publicUrl}/pay/s/${session.id}`,
    linkText: 'Open the checkout',
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
