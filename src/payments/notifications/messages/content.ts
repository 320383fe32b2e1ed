import { amountText } from '../../amounts/token-amount.ts';
import type { EventData, PaymentEvent } from '../../model/event.ts';
import type { NoticePayload } from '../../model/notification.ts';
import type { Mode } from '../../model/owner.ts';
import { type PaymentChain, type PaymentChains, tokenOf } from '../../model/payment-chain.ts';
import type { FailureReason } from '../../model/session.ts';

/** What a person is told, before it is a mail or a message. Strings of merchants and payers are in it as they are. */
export interface Content {
  readonly title: string;
  /** A label and what it says, in the order in which they are shown. */
  readonly facts: readonly (readonly [label: string, value: string])[];
  /** Sentences below the facts. */
  readonly closing: string;
  /** Where the transaction can be looked at. */
  readonly link: string | undefined;
}

/** Whose payments they are. */
export interface Merchant {
  /** The organization's name. */
  readonly name: string;
  readonly mode: Mode;
}

type PaymentFacts = EventData<'payment.completed'> | EventData<'checkout.completed'>;

const TITLES: Readonly<Record<string, string>> = {
  'payment.completed': 'Payment received',
  'payment.failed': 'Payment failed',
  'checkout.completed': 'Checkout completed',
};

const REASONS: Readonly<Record<FailureReason, string>> = {
  reverted: 'the transaction was reverted by the chain',
  cancelled: 'the payer cancelled the transaction',
  replaced: 'the payer replaced the transaction with another one',
  not_found: 'the transaction never reached the chain',
  reorged: 'the chain dropped the block of the transaction',
  simulated: 'it was simulated to fail',
};

/** What a notice says. @throws Error for an event that nobody can be told about */
export function noticeContent(payload: NoticePayload, merchant: Merchant, chains: PaymentChains): Content {
  if (payload.kind === 'payment') return paymentContent(payload.event, merchant, chains);
  const { webhookId, url, disabledAt } = payload;
  return {
    title: titled('Webhook disabled', merchant),
    facts: [
      ['Merchant', merchant.name],
      ['Webhook', webhookId],
      ['Address', withoutSecrets(url)],
      ['Disabled at', new Date(disabledAt).toISOString()],
    ],
    closing:
      'Ten deliveries in a row failed, so nothing more is sent there. When the receiver is repaired, set is_active of the webhook to true: what was held for less than 24 hours is then sent.',
    link: undefined,
  };
}

/** What a test of a channel says. */
export function testContent(merchant: Merchant): Content {
  return {
    title: titled('Test of your notifications', merchant),
    facts: [
      ['Merchant', merchant.name],
      ['Mode', merchant.mode],
    ],
    closing: 'Notifications about payments arrive here. Nothing was paid.',
    link: undefined,
  };
}

function paymentContent({ type, data }: PaymentEvent, merchant: Merchant, chains: PaymentChains): Content {
  const title = TITLES[type];
  if (title === undefined || !('tx_hash' in data)) throw new Error(`nobody is told about ${type}`);
  const { chain_id: chainId, checkoutSession: session } = data;
  const chain = chains.all.find(({ id }) => id === chainId);
  const amount = shownAmount(data.amount, data, chain);
  const facts: [string, string | null][] = [
    ['Merchant', merchant.name],
    ['Amount', amount],
    ['Total', 'total' in data ? shownAmount(data.total, data, chain) : null],
    ['Chain', chain?.name ?? `chain ${chainId}`],
    ['Failed because', data.failure_reason && REASONS[data.failure_reason]],
    ['Late', data.late ? 'yes, the checkout had ended before' : null],
    ['Duplicate', data.duplicate ? 'yes, the checkout was paid already' : null],
    ['Customer', customer(session)],
    ['Reference', session.clientReferenceId],
    ['From', data.sender_address],
    ['To', data.recipient_address],
    ['Hash', data.tx_hash],
    ['Transaction', data.id],
    ['Session', session.id],
    ['Payment link', data.payment_link_id],
  ];
  return {
    title: titled(`${title}: ${amount}`, merchant),
    facts: facts.flatMap(([label, value]) => (value === null ? [] : [[label, value] as const])),
    closing: '',
    link: data.tx_hash === null ? undefined : chain?.explorerUrl?.(data.tx_hash),
  };
}

/** Exactly, in tokens. Of a token that is not configured any more only the smallest units are known. */
function shownAmount(
  units: string,
  { token_address }: PaymentFacts,
  chain: PaymentChain | undefined,
): string {
  const token = chain && tokenOf(chain, token_address);
  return token === undefined ? `${units} units of ${token_address}` : amountText(BigInt(units), token);
}

function customer({ customerName, customerEmail }: PaymentFacts['checkoutSession']): string | null {
  if (customerName === null) return customerEmail;
  return customerEmail === null ? customerName : `${customerName}, ${customerEmail}`;
}

function titled(title: string, { mode }: Merchant): string {
  return mode === 'test' ? `[Test] ${title}` : title;
}

/** The address of a webhook without its query, where receivers often have a password. */
function withoutSecrets(url: string): string {
  return url.replace(/[?#].*$/s, '');
}
