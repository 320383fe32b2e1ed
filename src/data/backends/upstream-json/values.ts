import { withoutExponent } from '#lib/json-text/lossless-json.ts';

/*
 * Readers that convert upstream values to the contract's types. A reader accepts any value and returns null for one it
 * cannot convert, so that each record decides whether it can do without.
 */

const NATURAL = /^(0|[1-9][0-9]{0,77})$/;
const DECIMAL = /^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;
const INTEGER = /^[+-]?[0-9]{1,400}(\.0*)?$/;
const MICROSECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
const MOMENT = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:Z|\+00:00|)$/;
const DAY = /^\d{4}-\d\d-\d\d$/;
const HASH = /^0x[0-9a-fA-F]{64}$/;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const HEX = /^0x(?:[0-9a-fA-F]{2})*$/; // a capturing group would overflow the stack on a few megabytes
const BARE_HEX = /^(?:[0-9a-fA-F]{2})+$/;

/** Reads text. A number is converted to its digits. */
export function textOrNull(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'bigint' || Number.isFinite(value) ? String(value) : null;
}

export function booleanOrNull(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value;
  return value === 'true' ? true : value === 'false' ? false : null;
}

/** Reads an integer from digits, a number, or a number written like `2.0e3`. */
export function bigintOrNull(value: unknown): bigint | null {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : null;
  if (typeof value !== 'string') return null;
  if (INTEGER.test(value)) return BigInt(value.replace(/^\+|\..*$/g, ''));
  return withoutExponent(value);
}

/** Reads a non-negative integer of up to 78 digits as decimal text: the contract's IntegerString and Wei. */
export function naturalOrNull(value: unknown): string | null {
  if (typeof value === 'string' && NATURAL.test(value)) return value;
  const text = bigintOrNull(value)?.toString() ?? '';
  return NATURAL.test(text) ? text : null;
}

/** Like `naturalOrNull`, as a bigint. */
export function unsignedOrNull(value: unknown): bigint | null {
  const text = naturalOrNull(value);
  return text === null ? null : BigInt(text);
}

/** Reads an integer of up to 78 digits as decimal text: the contract's SignedIntegerString. */
export function signedOrNull(value: unknown): string | null {
  const read = bigintOrNull(value);
  if (read === null) return null;
  return naturalOrNull(read < 0n ? -read : read) === null ? null : read.toString();
}

/** Reads a decimal number as text: the contract's DecimalString. */
export function decimalOrNull(value: unknown): string | null {
  if (typeof value === 'string') return DECIMAL.test(value) ? value : null;
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : null;
  return typeof value === 'bigint' ? value.toString() : null;
}

/** Reads an integer that a number holds exactly. */
export function integerOrNull(value: unknown): number | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : null;
  const read = bigintOrNull(value);
  return read !== null && Number.isSafeInteger(Number(read)) ? Number(read) : null;
}

/** Reads a count, block number or position: a non-negative integer that a number holds exactly. */
export function countOrNull(value: unknown): number | null {
  const count = integerOrNull(value);
  return count !== null && count >= 0 ? count : null;
}

/** Reads a finite number, for ratios and percentages. */
export function numberOrNull(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'bigint') return numberOrNull(Number(value));
  return typeof value === 'string' && DECIMAL.test(value) ? numberOrNull(Number(value)) : null;
}

/** Reads a UTC timestamp and returns it with microseconds. */
export function timestampOrNull(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  if (MICROSECONDS.test(value)) return value;
  const [, day, time, fraction = ''] = MOMENT.exec(value) ?? [];
  if (day === undefined || time === undefined) return null;
  return `${day}T${time}.${fraction.slice(0, 6).padEnd(6, '0')}Z`;
}

/** Reads a day as YYYY-MM-DD. */
export function dayOrNull(value: unknown): string | null {
  return typeof value === 'string' && DAY.test(value) ? value : null;
}

/** Reads a hash of 32 bytes and returns it in lower case (Decision 25). */
export function hashOrNull(value: unknown): string | null {
  return typeof value === 'string' && HASH.test(value) ? value.toLowerCase() : null;
}

/** Reads an address of 20 bytes and keeps the upstream's checksum, because some chains use their own (Decision 25). */
export function addressHashOrNull(value: unknown): string | null {
  return typeof value === 'string' && ADDRESS.test(value) ? value : null;
}

/** Reads whole bytes as 0x-prefixed hex. */
export function hexOrNull(value: unknown): string | null {
  return typeof value === 'string' && HEX.test(value) ? value : null;
}

/** Reads whole bytes written without 0x and adds the prefix. */
export function bareHexOrNull(value: unknown): string | null {
  return typeof value === 'string' && BARE_HEX.test(value) ? `0x${value}` : null;
}
