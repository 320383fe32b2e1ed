import { html } from 'htm/preact';
import { Fragment, type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { h } from '#pages/browser/element.ts';
import { useCopying } from '#pages/browser/reference.ts';
import { useTexts } from '../texts.ts';

/** Button that copies a text. `copied` is its name for screen readers. Renders nothing until a script runs. */
export function CopyText({
  text,
  copied,
  label,
  className = '',
}: {
  text: string;
  copied: string;
  label?: string;
  className?: string;
}): VNode | null {
  const isMounted = useMounted();
  const { page } = useTexts();
  const { isCopied, copy } = useCopying(text);
  const said = isCopied === undefined ? '' : isCopied ? page.copied : page.notCopied;
  if (!isMounted) return null;
  return html`<button type="button" class=${`quiet ${className}`} aria-label=${page.copyOf(copied)} onClick=${copy}>
    ${said || (label ?? page.copy)}<span class="visually-hidden" role="status">${said && `${said}: ${copied}`}</span>
  </button>`;
}

/** A value, such as an address, with its name and a button to copy it. */
export function CopiedFact({ name, value, copied }: { name: string; value: string; copied: string }): VNode {
  return html`<div class="fact"><dt>${name}</dt><dd><code>${value}</code> ${h(CopyText, { text: value, copied, className: 'copy' })}</dd></div>`;
}

/** Button that prints the page. Renders nothing until a script runs. */
export function PrintButton(): VNode | null {
  const { receipt } = useTexts();
  const isMounted = useMounted();
  if (!isMounted) return null;
  return html`<button type="button" class="secondary" onClick=${() => print()}>${receipt.print}</button>`;
}

/** Marks in Arabic times. The page allows none, and gives each text its own direction. */
const DIRECTION_MARKS = /[\u061c\u200e\u200f]/g;

/** English as most of the world writes times, until the browser knows more. */
const TIMES_IN_ENGLISH = 'en-GB';

/** A time in UTC, as the server knows no other, and in the payer's time zone once a script runs. */
export function LocalTime({ iso }: { iso: string }): VNode {
  const isMounted = useMounted();
  const { language, locale } = useTexts();
  const at = new Date(iso);
  const style = { dateStyle: 'medium', timeStyle: 'short' } as const;
  const known = language === 'en' ? TIMES_IN_ENGLISH : locale;
  const own = () => navigator.languages.find(one => one.split('-')[0] === language && language !== 'ar');
  const text = isMounted
    ? new Intl.DateTimeFormat(own() ?? known, style).format(at)
    : `${new Intl.DateTimeFormat(known, { ...style, timeZone: 'UTC' }).format(at)} UTC`;
  return html`<time datetime=${iso}>${text.replace(DIRECTION_MARKS, '')}</time>`;
}

/** Sentence with the time at which a reservation of other buyers ends. */
export function NextUse({ at }: { at: string }): VNode {
  const { time } = useTexts();
  return h(Fragment, { children: time.nextUse(h(LocalTime, { iso: at })) });
}

/** True once a component is shown by a script, and not only written by the server. */
function useMounted(): boolean {
  const [isMounted, setMounted] = useState(false);
  useEffect(() => setMounted(true), []);
  return isMounted;
}

const SECOND_MS = 1_000;
/** Minutes before the end that screen readers announce. */
const SAID = [5, 1];
const SOON_SECONDS = 120;

/** Time that is left to pay, counted down by a script. */
export function Countdown({ end, leftMs }: { end: string; leftMs: number }): VNode {
  const { time } = useTexts();
  const seconds = useSecondsLeft(leftMs);
  const minutes = SAID.find(one => seconds !== undefined && seconds <= one * 60 && seconds > (one - 1) * 60);
  const isSoon = seconds !== undefined && seconds <= SOON_SECONDS;
  return html`<p class="countdown">
    <span>${time.payBefore} ${h(LocalTime, { iso: end })}</span>
    <span class=${isSoon ? 'left soon' : 'left'} role="timer" aria-live="off" aria-label=${time.left}>
      ${seconds !== undefined && clockText(seconds)}
    </span>
    <span class="visually-hidden" role="status">
      ${minutes !== undefined && time.minutes(minutes)}
    </span>
  </p>`;
}

/** Seconds until `leftMs` have passed, by the monotonic clock, because the date of this machine may be wrong. */
function useSecondsLeft(leftMs: number): number | undefined {
  const [seconds, setSeconds] = useState<number>();
  useEffect(() => {
    const end = performance.now() + leftMs;
    const tick = () => setSeconds(Math.max(0, Math.ceil((end - performance.now()) / SECOND_MS)));
    tick();
    const timer = setInterval(tick, SECOND_MS);
    return () => clearInterval(timer);
  }, [leftMs]);
  return seconds;
}

function clockText(seconds: number): string {
  const two = (number: number) => String(number).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const rest = `${two(minutes)}:${two(seconds % 60)}`;
  return hours === 0 ? rest : `${hours}:${rest}`;
}
