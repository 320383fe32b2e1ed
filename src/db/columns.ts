/**
 * The only place that knows how values that SQL has no type for lie in a column.
 *
 * An unsigned integer of up to 256 bits is TEXT: two digits that say how many digits follow, then the
 * decimal digits. That is exact, and plain text comparison orders it by amount, so one column serves
 * equality, ranges and `order by`; 10^18 takes 21 characters where zero padding takes 78.
 *
 * Hashes, addresses and data are BLOB: half the size of hexadecimal text, in the table and in every
 * index over it, and there is no upper or lower case to get wrong.
 */

type Hex = `0x${string}`;

/** A value as the SQLite driver takes and gives it. */
export type Column = string | number | Buffer | null;

/** What can be bound to a `?`. Amounts go through `uintColumn`, objects through `jsonColumn`. */
export type Binding = string | number | boolean | Buffer | null;

/** The column form of an unsigned integer below 2^256. @throws RangeError outside of that. */
export function uintColumn(value: bigint): string {
  const digits = value.toString();
  if (value < 0n || digits.length > 78) throw new RangeError(`Not an unsigned 256-bit integer: ${digits}.`);
  return uintColumnOf(digits);
}

/** The column form of an unsigned integer in decimal digits, as PostgreSQL gives a `numeric`. */
export function uintColumnOf(digits: string): string {
  return digits.length < 10 ? `0${digits.length}${digits}` : `${digits.length}${digits}`;
}

/** The integer behind `uintColumn`. */
export function uintOf(column: string): bigint {
  return BigInt(column.slice(2));
}

export function uintOrNull(column: string | null): bigint | null {
  return column === null ? null : uintOf(column);
}

/** Decimal digits in each part of an exact sum. */
export const SUM_PART_DIGITS = 12;

/** The integer behind `exactSum` of a dialect: parts with the lowest first, of which PostgreSQL gives one. */
export function uintSumOf(column: string): bigint {
  const parts = column.split(' ').toReversed();
  return parts.reduce((sum, part) => sum * 10n ** BigInt(SUM_PART_DIGITS) + BigInt(part), 0n);
}

/** The column form of `0x…`. */
export function bytesColumn(hex: string): Buffer {
  return Buffer.from(hex.slice(2), 'hex');
}

export function bytesOrNullColumn(hex: string | null | undefined): Buffer | null {
  return hex === null || hex === undefined ? null : bytesColumn(hex);
}

/** Lower-case `0x…` behind a BLOB. */
export function hexOf(column: Buffer): Hex {
  return `0x${column.toString('hex')}`;
}

export function hexOrNull(column: Buffer | null): Hex | null {
  return column === null ? null : hexOf(column);
}

export function booleanColumn(value: boolean | null): number | null {
  return value === null ? null : Number(value);
}

export function booleanOrNull(column: number | null): boolean | null {
  return column === null ? null : column !== 0;
}

/**
 * The types a column of a store can have, and the value that is bound to it and read from it:
 * `text` and `json` (see `jsonOf`) a string, `uint256` what `uintColumn` makes, `bytes` a Buffer, `count` a whole
 * number, `time` UTC milliseconds as a number, `boolean` is bound as true or false and read with `booleanOf`.
 * JSON is text on PostgreSQL too: its own type would put keys in another order than they were given in.
 * `numeric` is a `uint256` with which PostgreSQL computes: rows hold what `uintColumn` makes, and a single value is bound
 * as `dialect.numeric` makes it.
 */
export type ColumnType = 'text' | 'json' | 'uint256' | 'numeric' | 'bytes' | 'count' | 'time' | 'boolean';

/** The columns of a table by name. A question mark says that a column may be null. */
export type Columns = Readonly<Record<string, ColumnType | `${ColumnType}?`>>;

interface ColumnValues {
  text: string;
  json: string;
  uint256: string;
  numeric: string;
  bytes: Buffer;
  count: number;
  time: number;
  boolean: StoredBoolean;
}

/** A row of a table with such columns, as it is inserted and as it is read. */
export type RowOf<Table extends Columns> = {
  -readonly [Name in keyof Table]: Table[Name] extends ColumnType
    ? ColumnValues[Table[Name]]
    : Table[Name] extends `${infer Type extends ColumnType}?`
      ? ColumnValues[Type] | null
      : never;
};

/** A boolean as it is read: SQLite gives 0 or 1. */
export type StoredBoolean = number | boolean;

/** The boolean in a column, which SQLite gives as 0 or 1. */
export function booleanOf(column: unknown): boolean {
  if (typeof column === 'boolean') return column;
  if (column === 0 || column === 1) return column === 1;
  throw new TypeError(`Not a boolean column: ${String(column)}.`);
}

/**
 * The whole number in a column, in a `count(…)` or in a `sum(…)`, which PostgreSQL gives as text.
 * @throws RangeError when a number could not hold it exactly.
 */
export function exactInteger(column: unknown): number {
  const value = typeof column === 'string' && /^-?\d+$/.test(column) ? Number(column) : column;
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
    throw new RangeError(`Not a whole number that can be held exactly: ${String(column)}.`);
  }
  return value;
}

/** The column form of a JSON value. */
export function jsonColumn(value: unknown): string {
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError('Nothing that JSON can express.');
  return text;
}

/** The value behind `jsonColumn`. Its shape was checked before it was stored. */
export function jsonOf<T>(column: string): T {
  return JSON.parse(column);
}
