import { type Address, checksumAddress } from 'viem';
import { DAY_MS } from '#lib/clock.ts';

/** Formats UTC milliseconds as ISO 8601 with microseconds and `Z` (document 1, conventions). */
export function microsecondTimestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}000Z`;
}

/** Formats an amount as a decimal string; null stays null. */
export function amount(value: bigint | null): string | null {
  return value === null ? null : value.toString();
}

/** Adds the checksum to an address (Decision 25). */
export function checksummed(address: Address): Address {
  return checksumAddress(address);
}

/** Share of a whole in percent, with four decimals. Null when the whole is zero. */
export function percentage(part: bigint, whole: bigint): number | null {
  return whole === 0n ? null : Number((part * 1_000_000n) / whole) / 10_000;
}

/** UTC day of a time in milliseconds, as days since 1970-01-01. */
export function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** Formats a day as ISO 8601. */
export function dateText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
