import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const UTC = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'long', timeZone: 'UTC' });
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const UNITS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];
const RENEW_MS = 5_000;
/** An age below the pause of its renewal may already be older than it says. */
const NOW_S = RENEW_MS / 1000;

/** Shows a time in the reader's time zone, with UTC on hover. `at` is ISO 8601 or milliseconds. */
export function Moment({ at }: { at: string | number }): VNode {
  const date = new Date(at);
  return html`<time datetime=${date.toISOString()} title=${UTC.format(date)}>${timeText(at)}</time>`;
}

/** A time in the reader's time zone, for text without elements. */
export function timeText(at: string | number): string {
  return LOCAL.format(new Date(at));
}

/** Shows the time elapsed since `at`, updated while visible, with local time and UTC on hover. */
export function Ago({ at }: { at: string | number }): VNode {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), RENEW_MS);
    return () => clearInterval(timer);
  }, []);
  const date = new Date(at);
  const title = `${LOCAL.format(date)} (${UTC.format(date)})`;
  return html`<time datetime=${date.toISOString()} title=${title}>${agoText((date.getTime() - now) / 1000)}</time>`;
}

/**
 * Time at which the server loaded an answer, by its headers and the time of arrival. A browser may keep an answer for
 * hours, so the time of arrival alone says nothing.
 */
export function loadedAt(headers: Headers, arrivedAt: number): number {
  const sentAt = Date.parse(headers.get('Date') ?? '');
  const ageS = Number(headers.get('Age') ?? 0);
  return (Number.isNaN(sentAt) ? arrivedAt : Math.min(sentAt, arrivedAt)) - ageS * 1000;
}

/** Words for a distance in time: negative seconds are past. */
export function agoText(seconds: number): string {
  if (seconds <= 0 && seconds > -NOW_S) return 'just now';
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? (['second', 1] as const);
  return RELATIVE.format(Math.trunc(seconds / size), unit);
}
