import { plainLine } from '../../lib/single-line.ts';
import { amountText } from '../amounts/token-amount.ts';
import { FAILURE_WORDS } from '../browser/failure-words.ts';
import type { EventData, PaymentEvent } from '../model/event.ts';
import type { NoticePayload } from '../model/notification.ts';
import type { Mode } from '../model/owner.ts';
import { type PaymentChain, type PaymentChains, tokenOf } from '../model/payment-chain.ts';
import type { Mail } from './mailers.ts';

/** The messenger's limit. Source: Bot API, "sendMessage". */
const MESSAGE_LENGTH = 4096;
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A mail with the content. `id` becomes its `Message-ID`. */
export function mailOf(content: Content, { id, to }: Pick<Mail, 'id' | 'to'>): Mail {
  return { id, to, subject: content.title, text: `${plainText(content)}\n`, html: htmlText(content) };
}

/** A message with the content, as plain text: the messenger interprets no markup in it. */
export function messageOf(content: Content): string {
  return plainText(content).slice(0, MESSAGE_LENGTH);
}

/** Every value is kept on one line, so that a payer's name cannot imitate another fact. */
function plainText({ title, facts, closing, link }: Content): string {
  return [
    plainLine(title),
    facts.map(([label, value]) => `${label}: ${plainLine(value)}`).join('\n'),
    closing,
    link ?? '',
  ]
    .filter(part => part !== '')
    .join('\n\n');
}

function htmlText({ title, facts, closing, link, linkText = 'View the transaction' }: Content): string {
  const rows = facts.map(
    ([label, value]) =>
      `<tr><th align="left" valign="top" style="padding:2px 16px 2px 0">${escaped(label)}</th><td>${escaped(plainLine(value))}</td></tr>`,
  );
  return [
    '<!doctype html>',
    `<html lang="en"><head><meta charset="utf-8"><title>${escaped(plainLine(title))}</title></head>`,
    '<body style="font-family:sans-serif">',
    `<h1 style="font-size:18px">${escaped(plainLine(title))}</h1>`,
    `<table style="font-size:14px;border-collapse:collapse">${rows.join('')}</table>`,
    ...(closing === '' ? [] : [`<p>${escaped(closing)}</p>`]),
    ...(link === undefined ? [] : [`<p><a href="${escaped(link)}">${escaped(linkText)}</a></p>`]),
    '</body></html>',
    '',
  ].join('\n');
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, character => ENTITIES[character] ?? character);
}

/** Content of a mail or message. Texts of merchants and payers are in it unescaped. */
interface Content {
  readonly title: string;
  /** Labels and values, in display order. */
  readonly facts: readonly (readonly [label: string, value: string])[];
  /** Sentences below the facts. */
  readonly closing: string;
  /** Page to open, and its name in a mail. */
  readonly link: string | undefined;
  readonly linkText?: string;
}

/** The merchant whose payments are reported. */
interface Merchant {
  /** The organization's name. */
  readonly name: string;
  readonly mode: Mode;
}

type EventSession = PaymentFacts['checkoutSession'];
type PaymentFacts = EventData<'payment.completed'> | EventData<'checkout.completed'>;

const TITLES: Readonly<Record<string, string>> = {
  'payment.completed': 'Payment received',
  'payment.failed': 'Payment failed',
  'checkout.completed': 'Checkout completed',
};

/** Content of a notice. @throws Error for an event without notifications */
export function noticeContent(
  payload: NoticePayload,
  merchant: Merchant,
  { chains, publicUrl }: { readonly chains: PaymentChains; readonly publicUrl?: string | undefined },
): Content {
  if (payload.kind === 'payment') return paymentContent(payload.event, merchant, chains);
  if (payload.kind === 'attention') return attentionContent(payload, merchant, { chains, publicUrl });
  const { webhookId, url, disabledAt } = payload;
  return {
    title: titled('Webhook disabled', merchant),
    facts: [
      ['Merchant', merchant.name],
      ['Webhook ID', webhookId],
      ['Endpoint URL', withoutSecrets(url)],
      ['Disabled at', new Date(disabledAt).toISOString()],
    ],
    closing:
      'Ten deliveries in a row failed, so the webhook was disabled. When the receiver works again, choose Enable on the webhook’s page in the dashboard, or set is_active to true through the API. Deliveries held for less than 24 hours are then sent.',
    link: undefined,
  };
}

/** Content of a test of a channel. */
export function testContent(merchant: Merchant): Content {
  return {
    title: titled('Test notification', merchant),
    facts: [
      ['Merchant', merchant.name],
      ['Mode', merchant.mode],
    ],
    closing: 'Notifications about payments arrive here. This is only a test; nothing was paid.',
    link: undefined,
  };
}

function paymentContent({ type, data }: PaymentEvent, merchant: Merchant, chains: PaymentChains): Content {
  const title = TITLES[type];
  if (title === undefined || !('late' in data)) throw new Error(`there are no notifications of ${type}`);
  const { chain_id: chainId, checkoutSession: session } = data;
  const chain = chains.all.find(({ id }) => id === chainId);
  const amount = shownAmount(data.amount, data, chain);
  const facts: Fact[] = [
    ['Merchant', merchant.name],
    ['Amount', amount],
    ['Total', 'total' in data ? shownAmount(data.total, data, chain) : null],
    ['Chain', chain?.name ?? `chain ${chainId}`],
    ['Failure reason', data.failure_reason && FAILURE_WORDS[data.failure_reason]],
    ['Late', data.late ? 'yes, the checkout could no longer be completed' : null],
    ['Duplicate', data.duplicate ? 'yes, the checkout was already paid' : null],
    ['Customer', customer(session)],
    ['Reference', session.clientReferenceId],
    ['From', data.sender_address],
    ['To', data.recipient_address],
    ['Transaction hash', data.tx_hash],
    ['Transfer ID', data.id],
    ['Checkout ID', session.id],
    ['Payment link ID', data.payment_link_id],
  ];
  return {
    title: titled(`${title}: ${amount}`, merchant),
    facts: given(facts),
    closing: '',
    link: data.tx_hash === null ? undefined : chain?.explorerUrl?.(data.tx_hash),
  };
}

type AttentionPayload = Extract<NoticePayload, { kind: 'attention' }>;

/** Content about money that needs a decision: one event with everything, or several in a line each (Decision 357). */
function attentionContent(
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

type Fact = [label: string, value: string | null];

function given(facts: readonly Fact[]): (readonly [label: string, value: string])[] {
  return facts.flatMap(([label, value]) => (value === null ? [] : [[label, value] as const]));
}

/** The exact amount in tokens. In smallest units for a token that is no longer configured. */
function shownAmount(
  units: string,
  { token_address }: { readonly token_address: string },
  chain: PaymentChain | undefined,
): string {
  const token = chain && tokenOf(chain, token_address);
  return token === undefined ? `${units} units of ${token_address}` : amountText(BigInt(units), token);
}

function customer({ customerName, customerEmail }: EventSession): string | null {
  if (customerName === null) return customerEmail;
  return customerEmail === null ? customerName : `${customerName}, ${customerEmail}`;
}

function titled(title: string, { mode }: Merchant): string {
  return mode === 'test' ? `[Test] ${title}` : title;
}

/** The URL of a webhook without its query, in which receivers often have a password. */
function withoutSecrets(url: string): string {
  return url.replace(/[?#].*$/s, '');
}
