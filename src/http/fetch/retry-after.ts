/** Value of a header: one text, several, or none. */
type HeaderValue = string | readonly string[] | undefined;

/**
 * Milliseconds that `Retry-After` asks a client to wait: whole seconds from now, or a date (RFC 9110, section 10.2.3).
 * Undefined when it is absent, unreadable or past.
 */
export function retryAfterMs(value: HeaderValue, now: number): number | undefined {
  if (typeof value !== 'string') return undefined;
  // Date.parse reads numbers such as -1 as years.
  if (/[a-z]/i.test(value)) return msUntil(Date.parse(value), now);
  const seconds = positiveNumber(value);
  return seconds === undefined ? undefined : seconds * 1000;
}

/** Milliseconds until a point in time; undefined for the past. */
export function msUntil(moment: number, now: number): number | undefined {
  return moment > now ? moment - now : undefined;
}

/** A positive whole number in a header; undefined for anything else. */
export function positiveNumber(value: HeaderValue): number | undefined {
  if (typeof value !== 'string' || !/^\s*\d{1,15}\s*$/.test(value)) return undefined;
  return Number(value) || undefined;
}
