import { plainLine } from '../../lib/single-line.ts';
import { MERCHANT_WORDS } from '../browser/outcome-words.ts';
import { REFUND_FAILURES } from '../browser/refund-words.ts';
import { MARK_WORDS } from '../browser/transfer-words.ts';
import type { EventData, PaymentEvent } from '../model/event.ts';
import { isRefund, type NoticePayload } from '../model/notification.ts';
import {
  addressText,
  type Content,
  chainWords,
  customer,
  dashboardPage,
  type Fact,
  given,
  type Merchant,
  orderFacts,
  reportedOutcome,
  type TextContext,
  titled,
} from './content.ts';

/** Most characters of an event in a list, so that the address of its page fits the line. */
const LINE_LENGTH = 120;

type AttentionPayload = Extract<NoticePayload, { kind: 'attention' }>;

/** An event about money that needs a decision, in words. */
interface Decision {
  /** Name of the state, as on a badge. */
  readonly state: string;
  /** A sentence about it. */
  readonly text: string;
  readonly amount: string;
  /** The event in a line of a list. */
  readonly line: string;
  readonly facts: readonly Fact[];
  /** Page of the dashboard where it is decided. */
  readonly page: string;
}

/** Content about money that needs a decision: one event with everything, or several in a line each (Decision 357). */
export function attentionContent(
  { events, more }: AttentionPayload,
  merchant: Merchant,
  context: TextContext,
): Content {
  const decisions = events.map(event => decisionOf(event, context));
  const [first] = decisions;
  if (first === undefined) throw new Error('a notice without an event');
  const isOne = decisions.length === 1 && more === 0;
  const listed = decisions.map(({ state, line, page }): Fact => {
    const parts = [plainLine(line, LINE_LENGTH), dashboardPage(context, page)];
    return [state, parts.filter(part => part !== undefined).join(' · ')];
  });
  const others: Fact[] = more === 0 ? [] : [['And', `${more} more in the dashboard`]];
  return {
    title: titled(
      isOne
        ? `Decision needed: ${first.state.toLowerCase()}, ${first.amount}`
        : `Decision needed: ${decisions.length + more} payments`,
      merchant,
    ),
    facts: given([['Merchant', merchant.name], ...(isOne ? first.facts : [...listed, ...others])]),
    closing: `${isOne ? `${first.text} ` : ''}Nothing happens by itself: decide it in the dashboard.`,
    link: dashboardPage(context, isOne ? first.page : ''),
    linkText: 'Open the dashboard',
  };
}

function decisionOf({ type, data }: PaymentEvent, context: TextContext): Decision {
  const { chainName, amountOf } = chainWords(data, context);
  const onChain: Fact[] = [
    ['Chain', chainName],
    ['From', 'sender_address' in data ? addressText(data.sender_address) : null],
    ['Transaction hash', 'tx_hash' in data ? data.tx_hash : null],
  ];
  if ('suggested_session_id' in data) {
    const amount = amountOf(data.amount);
    return {
      state: 'Unmatched transfer',
      text: 'A transfer arrived that belongs to no checkout for certain.',
      amount,
      line: amount,
      facts: [
        ['Amount', amount],
        ...onChain,
        ['Suggested checkout', data.suggested_session_id],
        ['ID', data.id],
      ],
      page: 'unmatched',
    };
  }
  if (isRefund(data)) return refundDecision(data, { amount: amountOf(data.amount), onChain });
  if (!('amount_received' in data)) throw new Error(`${type} needs no decision`);
  return mispaidDecision(data, { isLate: type === 'checkout.paid_late', amountOf, onChain, context });
}

function refundDecision(
  data: EventData<'refund.failed'>,
  { amount, onChain }: { readonly amount: string; readonly onChain: readonly Fact[] },
): Decision {
  const session = data.checkoutSession;
  const reason = data.failure_reason && REFUND_FAILURES[data.failure_reason];
  const canBeSent = data.status === 'requires_action';
  return {
    state: data.failure_reason === 'expired' ? 'Refund expired' : 'Refund failed',
    text: canBeSent
      ? `Nothing has been refunded: ${reason}. Check in your wallet before you send it again.`
      : `Nothing has been refunded: ${reason}. Its sum can be refunded again.`,
    amount,
    line: [amount, session?.name, session && customer(session)].filter(Boolean).join(' · '),
    facts: [
      ['Product', session?.name ?? null],
      ['Amount', amount],
      ['To', addressText(data.destination_address)],
      ...onChain,
      ['Customer', session && customer(session)],
      ['Reference', session?.clientReferenceId ?? null],
      ['Refund ID', data.id],
      ['Checkout ID', data.session_id],
    ],
    page: `refunds/${encodeURIComponent(data.id)}`,
  };
}

function mispaidDecision(
  data: EventData<'checkout.paid_late'>,
  {
    isLate,
    amountOf,
    onChain,
    context,
  }: {
    readonly isLate: boolean;
    readonly amountOf: (units: string) => string;
    readonly onChain: readonly Fact[];
    readonly context: TextContext;
  },
): Decision {
  const outcome = reportedOutcome(data);
  const { badge, text } = MERCHANT_WORDS[outcome];
  const { name } = data.checkoutSession;
  const amount = amountOf(data.transaction_amount ?? data.amount_received);
  return {
    state: badge,
    text,
    amount,
    line: [amount, name, customer(data.checkoutSession)].filter(Boolean).join(' · '),
    facts: [
      ['Product', name],
      ['Amount', amount],
      ['Note', isLate && outcome !== 'paid_unproven' ? MARK_WORDS.late : null],
      ['Price', amountOf(data.amount)],
      ['Received in all', amountOf(data.amount_received)],
      ['Too much', data.overpaid_amount && amountOf(data.overpaid_amount)],
      ...onChain,
      ...orderFacts(data, context),
      ['Checkout ID', data.id],
    ],
    page: `payments/${encodeURIComponent(data.id)}`,
  };
}
