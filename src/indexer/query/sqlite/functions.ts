import type Database from 'better-sqlite3';
import { MOST_CHARACTERS, QueryTooLarge } from '../query.ts';

type SqlValue = bigint | number | string | Buffer | null;

/** How much all lists of a statement hold together; whoever runs the statement sets it and starts it at zero. */
export interface ListsSize {
  values: number;
  characters: number;
  mostValues: number;
}

/**
 * What SQLite cannot do with integers beyond 64 bits. `exact_*` take and give `sortable` text, and take SQLite's own
 * integers and `0x` with hexadecimal digits too. Gives the size that all of `value_list` count up.
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
      if (size.values > size.mostValues || size.characters > MOST_CHARACTERS) {
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
  if (typeof value !== 'string') throw new TypeError('That is no exact integer.');
  if (!value.startsWith('0x')) return integerOf(value);
  return value.length === 2 ? 0n : BigInt(value);
}

/**
 * Integers of any size as text that SQLite sorts by amount and holds equal when they are. An unsigned one of up to
 * 99 digits is what `uintColumn` makes of it, so columns need not be touched: two digits that say how many follow, then
 * the digits. A longer one has a colon and five digits for its length, which sorts behind. A negative one is `-` and
 * the text of its amount with every character turned around, so that larger amounts come first.
 */
export function sortable(value: bigint): string {
  return value < 0n ? `-${turned(amountText((-value).toString()))}` : amountText(value.toString());
}

/** The integer behind `sortable` or `uintColumn`. */
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

/** Its own inverse. `!` sorts before the digits as the colon does behind them. */
function turned(text: string): string {
  let result = '';
  for (const character of text) {
    result += character === ':' ? '!' : character === '!' ? ':' : String(9 - Number(character));
  }
  return result;
}
