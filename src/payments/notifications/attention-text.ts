import type { PaymentEvent } from '../model/event.ts';
import type { NoticePayload } from '../model/notification.ts';
import type { PaymentChains } from '../model/payment-chain.ts';
import { type Content, customer, type Fact, given, type Merchant, shownAmount, titled } from './content.ts';

type AttentionPayload = Extract<NoticePayload, { kind: 'attention' }>;

/** Content about money that needs a decision: one event with everything, or several in a line each (Decision 357). */
export function attentionContent(
  { events, more }: AttentionPayload,
  merchant: Merchant,
  { chains, publicUrl }: { readonly chains: PaymentChains; readonly publicUrl?: string | undefined },
): Content {
  const shown = events.map(event => decisionOf(event, chains));
  const [first] = shown;
  if (first === undefined) throw new Error('a notice without an event');
  const isOne = shown.length === 1 && more === 0;
  const pageOf = (page: string) => (publicUrl === undefined ? undefined : `${publicUrl}/dashboard/${page}`);
  const lines = shown.map(({ what, line, page }) => {
    return [what, [line, pageOf(page)].filter(part => part !== undefined).join(' · ')] as const;
  });
  const others = more === 0 ? [] : [['And', `${more} more in the dashboard`] as const];
  return {
    title: titled(
      isOne
        ? `Decision needed: ${first.what}, ${first.amount}`
        : `Decision needed: ${shown.length + more} payments`,
      merchant,
    ),
    facts: [['Merchant', merchant.name], ...(isOne ? first.facts : [...lines, ...others])],
    closing: 'Nothing happens by itself: accept, assign or refund it in the dashboard.',
    link: pageOf(isOne ? first.page : ''),
    linkText: 'Open the dashboard',
  };
}

/** An event about money that needs a decision, in words, with the page of the dashboard where it is decided. */
function decisionOf({ type, data }: PaymentEvent, chains: PaymentChains) {
  const chain = chains.all.find(({ id }) => id === data.chain_id);
  const amountOf = (units: string) => shownAmount(units, data, chain);
  const onChain: Fact[] = [
    ['Chain', chain?.name ?? `chain ${data.chain_id}`],
    ['From', 'sender_address' in data ? data.sender_address : null],
    ['Transaction hash', 'tx_hash' in data ? data.tx_hash : null],
  ];
  if ('block_timestamp' in data) {
    const amount = amountOf(data.amount);
    const facts: Fact[] = [
      ['Amount', amount],
      ...onChain,
      ['Suggested checkout', data.suggested_session_id],
      ['ID', data.id],
    ];
    return { what: 'unmatched transfer', amount, line: amount, page: 'unmatched', facts: given(facts) };
  }
  if (!('amount_received' in data)) throw new Error(`${type} needs no decision`);
  const { checkoutSession: session, form_data: answers, shipping_address: address } = data;
  const amount = amountOf(data.transaction_amount ?? data.amount_received);
  const facts: Fact[] = [
    ['Product', data.name],
    ['Amount', amount],
    ['Price', amountOf(data.amount)],
    ['Received in all', amountOf(data.amount_received)],
    ['Too much', data.overpaid_amount && amountOf(data.overpaid_amount)],
    ...onChain,
    ['Customer', customer(session)],
    ['Reference', session.clientReferenceId],
    ...Object.entries(answers)
      .filter(([key]) => key !== 'email' && key !== 'shipping_address')
      .map(([key, answer]): Fact => [`Answer: ${key}`, String(answer)]),
    ['Ship to', address && Object.values(address).filter(Boolean).join(', ')],
    ['Checkout ID', data.id],
  ];
  const what = data.ended_reason === 'sold_out' ? 'paid after it was sold out' : DECISIONS[type];
  const line = [amount, data.name, customer(session)].filter(part => part !== null).join(' · ');
  const page = `payments/${encodeURIComponent(data.id)}`;
  return { what: what ?? type, amount, line, page, facts: given(facts) };
}

const DECISIONS: Readonly<Record<string, string>> = {
  'checkout.paid_late': 'paid late',
  'checkout.overpaid': 'overpaid',
  'checkout.partially_paid': 'ended paid in part',
};
