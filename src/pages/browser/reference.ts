import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { h } from '#pages/browser/element.ts';
import { isBlank } from './text-direction.ts';

const SHORTENED_FROM = 16;
const CLIPPED_FROM = 48;
const KEPT_AT_START = 8;
const KEPT_AT_END = 6;
const SAID_MS = 1_600;
const SHEETS = 'M5.5 5.5v-3h8v8h-3m-8-5h8v8h-8z';
const CHECK = 'M3 8.5l3.5 3.5L13 4.5';

/**
 * Address, hash or id, shortened, with a copy button, and a link when `href` is given. `name`, such as the symbol of a
 * token, replaces the short form unless it is blank; `isWhole` shows the full value.
 */
export function Reference({
  value,
  href,
  name,
  isWhole = false,
}: {
  value: string;
  href?: string | undefined;
  name?: string | null | undefined;
  isWhole?: boolean;
}): VNode {
  const text = name === undefined || name === null || isBlank(name) ? undefined : name;
  const shown =
    text === undefined
      ? html`<code title=${value}>${isWhole ? value : shortened(value)}</code>`
      : html`<bdi class="symbol" title=${value}>${text}</bdi>`;
  return html`<span class="reference">${href === undefined ? shown : html`<a href=${href}>${shown}</a>`}${h(CopyButton, { text: value })}</span>`;
}

/** Name of something with its source, which a reader must be able to judge. The text may be of a stranger. */
export function Name({
  text,
  source,
  title,
  isVouched,
}: {
  text: string;
  source: string;
  /** Explains the source to a pointer. */
  title: string;
  /** False for a name that its bearer chose without anybody's check. */
  isVouched: boolean;
}): VNode {
  return html`<span class=${`named ${isVouched ? 'vouched' : 'claimed'}`} title=${`${text}: ${title}`}><bdi>${text}</bdi><span class="named-by">${source}</span></span>`;
}

/** Button that copies a text and confirms it. */
export function CopyButton({ text, label = `Copy ${text}` }: { text: string; label?: string }): VNode {
  const { said, copy } = useCopying(text);
  return html`<button type="button" class="copy" aria-label=${label} title=${said || 'Copy'} onClick=${copy}>
    <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
      <path d=${said === 'Copied' ? CHECK : SHEETS} fill="none" stroke="currentColor" stroke-width="1.4" />
    </svg>
    <span class="visually-hidden" role="status">${said}</span>
  </button>`;
}

/** Copies a text. `isCopied` is the result, for a moment; `said` is the same in words. */
export function useCopying(text: string): {
  isCopied: boolean | undefined;
  said: string;
  copy: () => Promise<void>;
} {
  const [isCopied, setCopied] = useState<boolean>();
  return {
    isCopied,
    said: isCopied === undefined ? '' : isCopied ? 'Copied' : 'Not copied',
    async copy() {
      setCopied(await isInClipboard(text));
      setTimeout(() => setCopied(undefined), SAID_MS);
    },
  };
}

async function isInClipboard(text: string): Promise<boolean> {
  // Only https and localhost have it.
  if (navigator.clipboard === undefined) return isSelectionCopied(text);
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}

/** Copies a text through a selection, for browsers without a clipboard. The focus stays where it is. */
function isSelectionCopied(text: string): boolean {
  const focused = document.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  field.readOnly = true;
  field.className = 'visually-hidden';
  field.style.whiteSpace = 'pre'; // else indentation is lost
  // What is outside an open dialog cannot be selected.
  (document.querySelector('dialog[open]') ?? document.body).append(field);
  field.select();
  const isDone = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isDone;
}

/** Shortens a long value to its first and last characters. */
export function shortened(value: string): string {
  if (value.length <= SHORTENED_FROM) return value;
  return `${value.slice(0, KEPT_AT_START)}…${value.slice(-KEPT_AT_END)}`;
}

/** Beginning of an untrusted text, which may be very long. */
export function clipped(text: string, most = CLIPPED_FROM): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** Returns an address from data if it is http or https, and so safe to link to; else undefined. */
export function webAddress(value: string | null | undefined): string | undefined {
  return value != null && /^https?:\/\//i.test(value) ? value : undefined;
}
