import type { Mail } from './mail/mail.ts';
import type { Content } from './messages/content.ts';
import { plainLine } from './messages/plain-line.ts';

/** The messenger's limit. Source: Bot API, "sendMessage". */
const MESSAGE_LENGTH = 4096;
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** The mail that says it. `id` becomes its `Message-ID`. */
export function mailOf(content: Content, { id, to }: Pick<Mail, 'id' | 'to'>): Mail {
  return { id, to, subject: content.title, text: `${plainText(content)}\n`, html: htmlText(content) };
}

/** The message that says it, as it is written: the messenger takes nothing in it for markup. */
export function messageOf(content: Content): string {
  return plainText(content).slice(0, MESSAGE_LENGTH);
}

/** Every value is one line: a payer's name cannot pretend to be another fact. */
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

function htmlText({ title, facts, closing, link }: Content): string {
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
    ...(link === undefined ? [] : [`<p><a href="${escaped(link)}">Look at the transaction</a></p>`]),
    '</body></html>',
    '',
  ].join('\n');
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, character => ENTITIES[character] ?? character);
}
