/**
 * Column formats of values that SQL has no type for. No other module knows them.
 * An unsigned integer of up to 256 bits is TEXT: its number of digits as two digits, then the decimal digits. This is
 * exact, and plain text comparison orders it by amount, so one column serves equality, ranges and `order by`. 10^18
 * takes 21 characters, where zero padding takes 78.
 * Hashes, addresses and data are BLOB: half the size of hexadecimal text, in the table and in every index, and letter
 * case cannot differ.
 */

type Hex = `0x${string}`;

/** Value as accepted and returned by the SQLite driver. */
export type ColumnValue = string | number | Buffer | null;

/** Value that can be bound to a `?`. Amounts go through `uintColumn`, objects through `jsonColumn`. */
export type Binding = string | number | boolean | Buffer | null;

/** Encodes an unsigned integer below 2^256 for a column. @throws RangeError outside that range. */
export function uintColumn(value: bigint): string {
  const digits = value.toString();
  if (value < 0n || digits.length > 78) throw new RangeError(`Not an unsigned 256-bit integer: ${digits}.`);
  return uintColumnOf(digits);
}

/** Encodes an unsigned integer given in decimal digits, as PostgreSQL returns a `numeric`. */
export function uintColumnOf(digits: string): string {
  return digits.length < 10 ? `0${digits.length}${digits}` : `${digits.length}${digits}`;
}

/** True for text in the form that `uintColumn` returns. */
export function isUintColumn(text: string): boolean {
  return /^\d{3,80}$/.test(text) && uintColumn(uintOf(text)) === text;
}

/** Decodes the result of `uintColumn`. */
export function uintOf(column: string): bigint {
  return BigInt(column.slice(2));
}

export function nullableUint(column: string | null): bigint | null {
  return column === null ? null : uintOf(column);
}

/** Decimal digits in each part of an exact sum. */
export const SUM_PART_DIGITS = 12;

/** Decodes an `exactSum` of a dialect: its parts, lowest first. PostgreSQL returns a single part. */
export function uintSumOf(column: string): bigint {
  const parts = column.split(' ').toReversed();
  return parts.reduce((sum, part) => sum * 10n ** BigInt(SUM_PART_DIGITS) + BigInt(part), 0n);
}

/** Encodes `0x…` for a column. */
export function bytesColumn(hex: string): Buffer {
  return Buffer.from(hex.slice(2), 'hex');
}

export function bytesOrNullColumn(hex: string | null | undefined): Buffer | null {
  return hex === null || hex === undefined ? null : bytesColumn(hex);
}

/** Decodes a BLOB to lower-case `0x…`. */
export function hexOf(column: Buffer): Hex {
  return `0x${column.toString('hex')}`;
}

export function nullableHex(column: Buffer | null): Hex | null {
  return column === null ? null : hexOf(column);
}

export function booleanColumn(value: boolean | null): number | null {
  return value === null ? null : Number(value);
}

export function nullableBoolean(column: number | null): boolean | null {
  return column === null ? null : column !== 0;
}

/**
 * Column types, with the value that is bound and read:
 * `text` and `json` (see `jsonOf`) a string, `uint256` the result of `uintColumn`, `bytes` a Buffer, `count` an
 * integer, `int` one below 2^31, `small` one below 2^15, `time` UTC milliseconds as a number. A `boolean` is bound as
 * true or false and read with `booleanOf`.
 * JSON is text on PostgreSQL too, because its JSON type reorders keys.
 * `numeric` is a `uint256` that PostgreSQL can calculate with. Rows hold the result of `uintColumn`, and a single value
 * is bound as `dialect.numeric` returns it.
 */
export type ColumnType =
  | 'text'
  | 'json'
  | 'uint256'
  | 'numeric'
  | 'bytes'
  | 'count'
  | 'int'
  | 'small'
  | 'time'
  | 'boolean';

/** Columns of a table by name. A question mark marks a nullable column. */
export type Columns = Readonly<Record<string, ColumnType | `${ColumnType}?`>>;

interface ColumnValues {
  text: string;
  json: string;
  uint256: string;
  numeric: string;
  bytes: Buffer;
  count: number;
  int: number;
  small: number;
  time: number;
  boolean: StoredBoolean;
}

/** Row of a table with these columns, as inserted and as read. */
export type RowOf<Table extends Columns> = {
  -readonly [Name in keyof Table]: Table[Name] extends ColumnType
    ? ColumnValues[Table[Name]]
    : Table[Name] extends `${infer Type extends ColumnType}?`
      ? ColumnValues[Type] | null
      : never;
};

/** Boolean as read: SQLite returns 0 or 1. */
export type StoredBoolean = number | boolean;

/** Decodes a boolean column, which is 0 or 1 on SQLite. */
export function booleanOf(column: unknown): boolean {
  if (typeof column === 'boolean') return column;
  if (column === 0 || column === 1) return column === 1;
  throw new TypeError(`Not a boolean column: ${String(column)}.`);
}

/**
 * Decodes an integer column, a `count(…)` or a `sum(…)`, which PostgreSQL returns as text.
 * @throws RangeError when a number cannot hold it exactly.
 */
export function exactInteger(column: unknown): number {
  const value = typeof column === 'string' && /^-?\d+$/.test(column) ? Number(column) : column;
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
    throw new RangeError(`Not a whole number that can be held exactly: ${String(column)}.`);
  }
  return value;
}

/** Encodes a value as JSON for a column. */
export function jsonColumn(value: unknown): string {
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError('The value has no JSON form.');
  return text;
}

/** Decodes the result of `jsonColumn`. Its shape was checked before it was stored. */
export function jsonOf<T>(column: string): T {
  return JSON.parse(column);
}
