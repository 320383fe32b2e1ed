import type Database from 'better-sqlite3';
import { bloomOf } from '../../schema/bloom.ts';
import { MAX_CHARACTERS, QueryTooLarge } from '../query.ts';

type SqlValue = bigint | number | string | Buffer | null;

/** Total size of all lists of a statement. The caller sets the maximum and resets the counts before each statement. */
export interface ListsSize {
  values: number;
  characters: number;
  mostValues: number;
}

/**
 * Registers functions for integers beyond 64 bits. `exact_*` functions return `sortable` text. They accept it, SQLite's
 * integers, and `0x` with hexadecimal digits.
 * Returns the size that all calls of `value_list` share.
 */
export function registerFunctions(db: Database): ListsSize {
  const size: ListsSize = { values: 0, characters: 0, mostValues: 0 };
  const binary = (name: string, result: (left: bigint, right: bigint) => bigint | null) =>
    db.function(name, OPTIONS, (left: SqlValue, right: SqlValue) => {
      if (left === null || right === null) return null;
      const value = result(exact(left), exact(right));
      return value === null ? null : sortable(value);
    });
  binary('exact_add', (left, right) => left + right);
  binary('exact_subtract', (left, right) => left - right);
  binary('exact_multiply', (left, right) => left * right);
  binary('exact_remainder', (left, right) => (right === 0n ? null : left % right));

  db.function('exact', OPTIONS, (value: SqlValue) => (value === null ? null : sortable(exact(value))));
  db.function('bloom_of', OPTIONS, (value: SqlValue) => (Buffer.isBuffer(value) ? bloomOf(value) : null));
  db.function('as_real', OPTIONS, (value: SqlValue) => (value === null ? null : Number(exact(value))));

  db.aggregate<bigint | null>('exact_sum', {
    ...OPTIONS,
    start: () => null,
    step: (sum, value: SqlValue) => {
      if (value === null) return sum;
      return sum === null ? exact(value) : sum + exact(value);
    },
    result: sum => (sum === null ? null : sortable(sum)),
  });
  db.aggregate<string[]>('value_list', {
    ...OPTIONS,
    start: () => [],
    step: (list, value: SqlValue) => {
      if (value === null) return undefined;
      const text = Buffer.isBuffer(value) ? `0x${value.toString('hex')}` : String(value);
      list.push(text);
      size.values += 1;
      size.characters += text.length;
      if (size.values > size.mostValues || size.characters > MAX_CHARACTERS) {
        throw new QueryTooLarge('groups');
      }
      return undefined;
    },
    result: list => JSON.stringify(list),
  });
  return size;
}

const OPTIONS = { deterministic: true, safeIntegers: true } as const;

function exact(value: bigint | number | string | Buffer): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value !== 'string') throw new TypeError('Expected an exact integer.');
  if (!value.startsWith('0x')) return integerOf(value);
  return value.length === 2 ? 0n : BigInt(value);
}

/**
 * Text form of integers of any size that SQLite sorts by amount, and that is equal for equal integers.
 * An unsigned integer of up to 99 digits has the form of `uintColumn`, so columns need no conversion: two digits for
 * the length, then the digits. A longer one has a colon and five digits for the length, which sorts after. A negative
 * one is `-` and the inverted text of its amount, so that larger amounts sort first.
 */
export function sortable(value: bigint): string {
  return value < 0n ? `-${turned(amountText((-value).toString()))}` : amountText(value.toString());
}

/** Integer of a `sortable` or `uintColumn` text. */
export function integerOf(text: string): bigint {
  const first = text.charCodeAt(0);
  if (first === MINUS) return -integerOf(turned(text.slice(1)));
  return BigInt(text.slice(first === COLON ? LONG_PREFIX : 2));
}

const MINUS = 45;
const COLON = 58;
const LONG_PREFIX = 6;

function amountText(digits: string): string {
  if (digits.length > 99) return `:${String(digits.length).padStart(LONG_PREFIX - 1, '0')}${digits}`;
  return digits.length < 10 ? `0${digits.length}${digits}` : `${digits.length}${digits}`;
}

/** Inverts every character; its own inverse. `!` sorts before the digits as the colon sorts after them. */
function turned(text: string): string {
  let result = '';
  for (const character of text) {
    result += character === ':' ? '!' : character === '!' ? ':' : String(9 - Number(character));
  }
  return result;
}
