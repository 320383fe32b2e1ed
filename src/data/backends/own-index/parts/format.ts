import { type Address, checksumAddress } from 'viem';
import { DAY_MS } from '#lib/clock.ts';

/** UTC milliseconds as ISO 8601 with microseconds and `Z` (document 1, conventions). */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}000Z`;
}

/** An amount as a decimal string, or null where there is none. */
export function amount(value: bigint | null): string | null {
  return value === null ? null : value.toString();
}

/** Decision 25: addresses carry their checksum. */
export function checksummed(address: Address): Address {
  return checksumAddress(address);
}

/** A share of a whole in percent with four decimals; null of nothing. */
export function percentage(part: bigint, whole: bigint): number | null {
  return whole === 0n ? null : Number((part * 1_000_000n) / whole) / 10_000;
}

/** The day in UTC of a time in milliseconds, as days since 1970-01-01. */
export function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

/** A day as ISO 8601. */
export function dateText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
