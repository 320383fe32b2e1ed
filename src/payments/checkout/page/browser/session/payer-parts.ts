import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { h } from '#pages/browser/element.ts';
import { useCopying } from '#pages/browser/reference.ts';

/** Button that copies a text. `copied` is its name for screen readers. Renders nothing until a script runs. */
export function CopyText({
  text,
  copied,
  label = 'Copy',
  className = '',
}: {
  text: string;
  copied: string;
  label?: string;
  className?: string;
}): VNode | null {
  const isMounted = useMounted();
  const { said, copy } = useCopying(text);
  if (!isMounted) return null;
  return html`<button type="button" class=${`quiet ${className}`} aria-label=${`Copy ${copied}`} onClick=${copy}>
    ${said || label}<span class="visually-hidden" role="status">${said && `${said}: ${copied}`}</span>
  </button>`;
}

/** A value, such as an address, with its name and a button to copy it. */
export function CopiedFact({ name, value, copied }: { name: string; value: string; copied: string }): VNode {
  return html`<div class="fact"><dt>${name}</dt><dd><code>${value}</code> ${h(CopyText, { text: value, copied, className: 'copy' })}</dd></div>`;
}

/** Button that prints the page. Renders nothing until a script runs. */
export function PrintButton(): VNode | null {
  const isMounted = useMounted();
  if (!isMounted) return null;
  return html`<button type="button" class="secondary" onClick=${() => print()}>Print receipt</button>`;
}

const UTC = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** A time in UTC, as the server knows no other, and in the payer's time zone once a script runs. */
export function LocalTime({ iso }: { iso: string }): VNode {
  const isMounted = useMounted();
  const at = new Date(iso);
  const local = () =>
    new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' }).format(at);
  return html`<time datetime=${iso}>${isMounted ? local() : `${UTC.format(at)} UTC`}</time>`;
}

/** Sentence with the time at which a reservation of other buyers ends. */
export function NextUse({ at }: { at: string }): VNode {
  return html` The next reservation ends at ${h(LocalTime, { iso: at })}.`;
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
  const seconds = useSecondsLeft(leftMs);
  const minutes = SAID.find(one => seconds !== undefined && seconds <= one * 60 && seconds > (one - 1) * 60);
  const isSoon = seconds !== undefined && seconds <= SOON_SECONDS;
  return html`<p class="countdown">
    <span>Pay before ${h(LocalTime, { iso: end })}</span>
    <span class=${isSoon ? 'left soon' : 'left'} role="timer" aria-live="off" aria-label="Time left">
      ${seconds !== undefined && clockText(seconds)}
    </span>
    <span class="visually-hidden" role="status">
      ${minutes !== undefined && `${minutes} ${minutes === 1 ? 'minute' : 'minutes'} left to pay`}
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
