import { payerWords } from '../browser/outcome-words.ts';
import type { PaymentEvent } from '../model/event.ts';
import {
  type Content,
  type Fact,
  given,
  type Merchant,
  reportedOutcome,
  type TextContext,
  shownAmount,
  titled,
} from './content.ts';

/** Content for the payer, in the words of the pay page (Decisions 340 and 358). */
export function customerContent(
  { type, data }: PaymentEvent,
  merchant: Merchant,
  { chains, publicUrl }: TextContext,
): Content {
  const chain = chains.all.find(({ id }) => id === data.chain_id);
  const amountOf = (units: bigint | string) => shownAmount(`${units}`, data, chain);
  const isPaid = 'total' in data;
  if (!isPaid && !('amount_received' in data)) throw new Error(`payers are not told of ${type}`);
  const price = BigInt(isPaid ? data.total : data.amount);
  const received = BigInt(isPaid ? data.amount : data.amount_received);
  const missing = price > received ? price - received : 0n;
  const session = data.checkoutSession;
  const { title, text } = payerWords(isPaid ? 'paid' : reportedOutcome(data), {
    merchant: merchant.name,
    price: amountOf(price),
    received: amountOf(received),
    missing: amountOf(missing),
    tooMuch: amountOf((isPaid ? null : data.overpaid_amount) ?? 0n),
    sentBack: '',
    confirmations: '',
    status: isPaid ? 'completed' : data.status,
    isLate: false,
    failureReason: null,
  });
  const facts: Fact[] = [
    ['Merchant', merchant.name],
    ['Product', session.name],
    ['Price', amountOf(price)],
    ['Received', amountOf(received)],
    ['Chain', chain?.name ?? `chain ${data.chain_id}`],
    ['Reference', session.clientReferenceId],
    ['Transaction hash', data.tx_hash],
  ];
  return {
    title: titled(`${merchant.name}: ${title}`, merchant),
    facts: given(facts),
    closing: text,
    link: publicUrl === undefined ? undefined : `${publicUrl}/pay/s/${session.id}`,
    linkText: 'Open the checkout',
  };
}
