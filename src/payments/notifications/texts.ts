import { plainLine } from '../../lib/single-line.ts';
import { FAILURE_WORDS } from '../browser/failure-words.ts';
import type { PaymentEvent } from '../model/event.ts';
import type { NoticePayload } from '../model/notification.ts';
import type { PaymentChains } from '../model/payment-chain.ts';
import { attentionContent } from './attention-text.ts';
import { type Content, customer, type Fact, given, type Merchant, shownAmount, titled } from './content.ts';
import { customerContent } from './customer-text.ts';
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
  if (payload.kind === 'customer') return customerContent(payload.event, merchant, { chains, publicUrl });
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

/** The URL of a webhook without its query, in which receivers often have a password. */
function withoutSecrets(url: string): string {
  return url.replace(/[?#].*$/s, '');
}
