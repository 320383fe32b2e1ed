import { plainLine } from '../../lib/single-line.ts';
import { FAILURE_WORDS } from '../browser/failure-words.ts';
import { MERCHANT_WORDS } from '../browser/outcome-words.ts';
import { MARK_WORDS } from '../browser/transfer-words.ts';
import type { EventData, PaymentEvent } from '../model/event.ts';
import type { NoticePayload } from '../model/notification.ts';
import { attentionContent } from './attention-text.ts';
import {
  addressText,
  type Content,
  chainWords,
  dashboardPage,
  type Fact,
  given,
  type Merchant,
  orderFacts,
  type TextContext,
  titled,
} from './content.ts';
import { customerContent, refundLinkContent } from './customer-text.ts';
import type { Mail } from './mailers.ts';
import { keyContent, membersContent, passkeyContent, signInContent } from './member-text.ts';
import { recipientsContent } from './recipients-text.ts';
import { unsweptContent } from './unswept-text.ts';

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
  return {
    id,
    to,
    replyTo: content.replyTo,
    subject: content.title,
    text: `${plainText(content)}\n`,
    html: htmlText(content),
  };
}

/**
 * A message with the content, as plain text: the messenger interprets no markup in it. Facts that are too long are cut, so
 * that the sentences and the link below them stay.
 */
export function messageOf(content: Content): string {
  const text = plainText(content);
  const excess = text.length - MESSAGE_LENGTH;
  if (excess <= 0) return text;
  const facts = factLines(content);
  const kept = facts.slice(0, Math.max(0, facts.length - excess - 1));
  return withFacts(content, `${kept.toWellFormed()}…`);
}

function plainText(content: Content): string {
  return withFacts(content, factLines(content));
}

/** Every value is kept on one line, so that a payer's name cannot imitate another fact. */
function factLines({ facts }: Content): string {
  return facts.map(([label, value]) => `${label}: ${plainLine(value)}`).join('\n');
}

function withFacts({ title, closing, link }: Content, facts: string): string {
  return [plainLine(title), facts, closing, link ?? ''].filter(part => part !== '').join('\n\n');
}

function htmlText({ title, facts, closing, link, linkText = 'Open', language }: Content): string {
  const { code, direction } = language ?? { code: 'en', direction: 'ltr' };
  const rows = facts.map(
    ([label, value]) =>
      `<tr><th align="${direction === 'rtl' ? 'right' : 'left'}" valign="top" style="padding:2px 8px">${escaped(label)}</th><td>${escaped(plainLine(value))}</td></tr>`,
  );
  return [
    '<!doctype html>',
    `<html lang="${code}" dir="${direction}"><head><meta charset="utf-8"><title>${escaped(plainLine(title))}</title></head>`,
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

const TITLES: Readonly<Record<string, string>> = {
  'payment.completed': 'Payment received',
  'payment.failed': 'Payment failed',
  'checkout.completed': 'Checkout completed',
};

/** Content of a notice. @throws Error for an event without notifications */
export function noticeContent(payload: NoticePayload, merchant: Merchant, context: TextContext): Content {
  if (payload.kind === 'payment') return paymentContent(payload.event, merchant, context);
  if (payload.kind === 'customer') return customerContent(payload.event, merchant, context);
  if (payload.kind === 'refund_link') return refundLinkContent(payload, merchant);
  if (payload.kind === 'attention') return attentionContent(payload, merchant, context);
  if (payload.kind === 'unswept') return unsweptContent(payload, merchant, context);
  if (payload.kind === 'sign_in') return signInContent(payload, merchant);
  if (payload.kind === 'members_changed') return membersContent(payload, merchant, context);
  if (payload.kind === 'passkey_changed') return passkeyContent(payload, merchant, context);
  if (payload.kind === 'key_created') return keyContent(payload, merchant, context);
  if (payload.kind === 'recipients_changed') return recipientsContent(payload, merchant, context);
  return webhookContent(payload, merchant, context);
}

const FAILING =
  'Five deliveries in a row failed at their first attempt. They are retried, but after ten the webhook is disabled. Its page in the dashboard shows the responses of the receiver.';
const DISABLED =
  'Ten deliveries in a row failed, so the webhook was disabled. When the receiver works again, choose Enable on its page in the dashboard. Deliveries held for less than 24 hours are then sent.';

function webhookContent(
  payload: Extract<NoticePayload, { kind: 'webhook_failing' | 'webhook_disabled' }>,
  merchant: Merchant,
  context: TextContext,
): Content {
  const isDisabled = payload.kind === 'webhook_disabled';
  const since = new Date(isDisabled ? payload.disabledAt : payload.failingSince).toISOString();
  return {
    title: titled(isDisabled ? 'Webhook disabled' : 'Webhook failing', merchant),
    facts: [
      ['Merchant', merchant.name],
      ['Webhook ID', payload.webhookId],
      ['Endpoint URL', withoutSecrets(payload.url)],
      [isDisabled ? 'Disabled at' : 'Failing since', since],
    ],
    closing: isDisabled ? DISABLED : FAILING,
    link: dashboardPage(context, `webhooks/${encodeURIComponent(payload.webhookId)}`),
    linkText: 'Open the webhook in the dashboard',
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

/** Content about a payment or a completed checkout, with the outcome of the checkout (Decision 366). */
function paymentContent({ type, data }: PaymentEvent, merchant: Merchant, context: TextContext): Content {
  const title = TITLES[type];
  if (title === undefined || !('late' in data)) throw new Error(`there are no notifications of ${type}`);
  const session = data.checkoutSession;
  const { chain, chainName, amountOf } = chainWords(data, context);
  const amount = amountOf(data.amount);
  const words = session.outcome ? MERCHANT_WORDS[session.outcome] : { badge: null, text: '' };
  const needsMerchant = words.badge !== null && words.text !== '';
  const page = dashboardPage(context, `payments/${encodeURIComponent(session.id)}`);
  const facts: Fact[] = [
    ['Merchant', merchant.name],
    ['Product', session.name],
    ['Amount', amount],
    ['Total', 'total' in data ? amountOf(data.total) : null],
    ['Checkout', words.badge],
    ['Failure reason', data.failure_reason && FAILURE_WORDS[data.failure_reason]],
    ...markFacts(data),
    ...orderFacts(data, context),
    ['Chain', chainName],
    ['From', addressText(data.sender_address)],
    ['To', addressText(data.recipient_address)],
    ['Transaction hash', data.tx_hash],
    ['Transfer ID', data.id],
    ['Checkout ID', session.id],
    ['Payment link ID', data.payment_link_id],
  ];
  return {
    title: titled(
      needsMerchant ? `${title}: ${amount} (${words.badge.toLowerCase()})` : `${title}: ${amount}`,
      merchant,
    ),
    facts: given(facts),
    closing: words.text,
    link: page ?? (data.tx_hash === null ? undefined : chain?.explorerUrl?.(data.tx_hash)),
    linkText: page === undefined ? 'View the transaction' : 'Open the payment in the dashboard',
  };
}

/** The marks of a payment. Those of one that the merchant has accepted no longer matter. */
function markFacts(data: EventData<'payment.completed'> | EventData<'checkout.completed'>): Fact[] {
  if ('accepted_at' in data && data.accepted_at !== null)
    return [['Accepted as paid', data.accepted_reason ?? 'by hand']];
  return [
    ['Note', data.late ? MARK_WORDS.late : null],
    ['Note', data.duplicate ? MARK_WORDS.duplicate : null],
  ];
}

/** The URL of a webhook without its query, in which receivers often have a password. */
function withoutSecrets(url: string): string {
  return url.replace(/[?#].*$/s, '');
}
