import { DAY_MS } from '#lib/clock.ts';

/** The day in UTC of a time in milliseconds, as days since 1970-01-01. */
export function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** A day as ISO 8601. */
export function dateText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
