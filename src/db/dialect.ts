import pg from 'pg';
import { type Binding, type ColumnType, SUM_PART_DIGITS, uintColumn } from './columns.ts';

/** Rows whose columns have some values and whose keys lie in a range: a part of an index over the columns and then the keys. */
export interface KeyRange {
  readonly columns: readonly string[];
  readonly values: readonly Binding[];
  readonly keys: readonly string[];
  /** Keys that come before the range, and keys that come behind it; it has no such end when absent. */
  readonly above?: readonly Binding[] | undefined;
  readonly below?: readonly Binding[] | undefined;
  readonly order: 'asc' | 'desc';
}

/** A condition, and what stands behind `order by` for rows that it holds for. */
export interface OrderedSql {
  readonly sql: string;
  readonly bindings: readonly Binding[];
  readonly order: string;
}

/** The few things in which SQLite and PostgreSQL differ for whoever writes SQL. `handle.dialect` is the one to ask. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  /** What stands behind the column list of `create table`. */
  readonly afterTable: string;
  /** What stands before `table` in `create table` when a crash may empty it, so that nothing waits for its disk. */
  readonly unlogged: string;
  /** An expression for random lower-case hexadecimal digits: an even number of them, at most 32. */
  randomHex(digits: number): string;
  /** The condition that a value is among those that a `select` gives, which is run first, once, and not joined with. */
  among(select: string): string;
  /** Rows with a column `value`, one for each element of a bound JSON array: however many, the statement stays the same. */
  readonly jsonElements: string;
  /** What is bound to compare a column of type `numeric` with an unsigned integer of up to 256 bits. */
  numeric(value: bigint): string;
  /** Bytes as SQL, for queries whose condition must be word for word that of a partial index. */
  bytesLiteral(hex: string): string;
  /** An expression for bytes as lower-case `0x…`; null of null. */
  hex(column: string): string;
  /** Joins with `on` a table to the one before it. SQLite keeps the order as written; PostgreSQL finds its own. */
  readonly nestedJoin: 'cross join' | 'join';
  /** Makes SQLite read a table by an index that it would not choose; PostgreSQL chooses by its statistics. */
  indexedBy(index: string): string;
  /**
   * The condition for a range of keys, with their order: the columns' index answers it however often each value occurs.
   * For a frequent one PostgreSQL else takes the rows of all values in the order of the key until there are enough.
   */
  keyRange(range: KeyRange): OrderedSql;
  /** The function that finds where a text begins in a column; 0 when it is not there. */
  readonly position: string;
  /** An expression for the exact sum of a column of `uint256` over the rows of a group, for `uintSumOf` to read. */
  exactSum(column: string): string;
  /** The declaration of a column's type, checks included. */
  columnType(type: ColumnType, column: string): string;
  /** True when the transaction did nothing and may do it again: another one was in its way. */
  isRetryable(error: unknown): boolean;
  /** True when the server, and not the statement, is at fault: it is stopped, starts, refuses or was cut off. */
  isAway(error: unknown): boolean;
  /** True when the rows of the statement are at fault, by a rule of the schema or a value: it fails whenever it is tried. */
  isOfRows(error: unknown): boolean;
  /** The columns of the unique index that an `insert` or `update` ran into; undefined for any other error. */
  violatedColumns(error: unknown): readonly string[] | undefined;
}

export const sqliteDialect: Dialect = {
  name: 'sqlite',
  afterTable: ' strict',
  unlogged: '',
  randomHex: digits => `lower(hex(randomblob(${digits / 2})))`,
  among: select => `in (${select})`,
  jsonElements: 'json_each(?)',
  numeric: uintColumn,
  bytesLiteral: hex => `x'${hex.slice(2)}'`,
  hex: column => `case when ${column} is null then null else '0x' || lower(hex(${column})) end`,
  nestedJoin: 'cross join',
  indexedBy: index => ` indexed by ${index}`,
  keyRange({ columns, values, keys, above, below, order }) {
    const bound = (sign: string, place: readonly Binding[] | undefined) =>
      place === undefined ? [] : [`${rowOf(keys)} ${sign} ${rowOf(keys.map(() => '?'))}`];
    return {
      sql: [...columns.map(column => `${column} = ?`), ...bound('>', above), ...bound('<', below)].join(
        ' and ',
      ),
      bindings: [...values, ...(above ?? []), ...(below ?? [])],
      order: keys.map(key => `${key} ${order}`).join(', '),
    };
  },
  position: 'instr',
  exactSum: column => SQLITE_PARTS.map(part => sumOfPart(column, part)).join(" || ' ' || "),
  columnType: (type, column) =>
    type === 'boolean' ? `integer check (${column} in (0, 1))` : SQLITE_TYPES[type],
  isRetryable: error => codeOf(error).startsWith('SQLITE_BUSY'),
  isAway: () => false,
  isOfRows: error => /^SQLITE_(?:CONSTRAINT|MISMATCH|TOOBIG)/.test(codeOf(error)),
  violatedColumns(error) {
    if (!/^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY)$/.test(codeOf(error))) return undefined;
    const [, columns = ''] = /constraint failed: (.+)$/m.exec(textOf(error, 'message')) ?? [];
    return columns.split(', ').map(column => column.slice(column.indexOf('.') + 1));
  },
};

export const postgresDialect: Dialect = {
  name: 'postgres',
  afterTable: '',
  unlogged: 'unlogged ',
  randomHex: digits => `substr(replace(gen_random_uuid()::text, '-', ''), 1, ${digits})`,
  among: select => `= any (array(${select}))`,
  jsonElements: 'json_array_elements(?::json)',
  numeric: value => value.toString(),
  bytesLiteral: hex => `decode('${hex.slice(2)}', 'hex')`,
  hex: column => `'0x' || encode(${column}, 'hex')`,
  nestedJoin: 'join',
  indexedBy: () => '',
  keyRange({ columns, values, keys, above, below, order }) {
    const bound = (sign: string, place: readonly Binding[] | undefined) => {
      const bounded = place === undefined ? columns : [...columns, ...keys];
      const either = place === undefined ? `${sign}=` : sign;
      return bounded.length === 0 ? [] : [`${rowOf(bounded)} ${either} ${rowOf(bounded.map(() => '?'))}`];
    };
    // A comparison of rows does not say that they hold no null, which partial indexes ask for.
    const given = columns.map(column => `${column} is not null`);
    return {
      sql: [...given, ...bound('>', above), ...bound('<', below)].join(' and '),
      bindings: [...values, ...(above ?? []), ...values, ...(below ?? [])],
      order: [...columns, ...keys].map(column => `${column} ${order}`).join(', '),
    };
  },
  position: 'strpos',
  exactSum: column => `sum(substr(${column}, 3)::numeric)::text`,
  columnType: type => POSTGRES_TYPES[type],
  // serialization_failure, deadlock_detected and lock_not_available. Source: PostgreSQL, "Error Codes".
  isRetryable: error => ['40001', '40P01', '55P03'].includes(codeOf(error)),
  // What the server said has a code: connection_exception, admin_shutdown, crash_shutdown, cannot_connect_now and
  // too_many_connections. A lost connection is any other error that is no mistake of a program. Source: as above.
  isAway: error =>
    error instanceof pg.DatabaseError
      ? /^(?:08...|57P0[123]|53300)$/.test(codeOf(error))
      : !(error instanceof TypeError || error instanceof RangeError),
  // Data exceptions and violations of integrity constraints. Source: as above.
  isOfRows: error => error instanceof pg.DatabaseError && /^2[23]/.test(codeOf(error)),
  violatedColumns(error) {
    if (codeOf(error) !== '23505') return undefined;
    const [, columns = ''] = /^Key \((.+?)\)=/.exec(textOf(error, 'detail')) ?? [];
    return columns.split(', ');
  },
};

function rowOf(parts: readonly string[]): string {
  return parts.length === 1 ? parts.join() : `(${parts.join(', ')})`;
}

// SQLite adds integers of 64 bits and refuses a sum beyond them. In parts of twelve digits nine million rows fit.
const SQLITE_PARTS = [0, 1, 2, 3, 4, 5, 6] as const;

/** The sum of twelve decimal digits of each value; part 0 are the lowest. Few values have digits beyond part 1. */
function sumOfPart(column: string, part: (typeof SQLITE_PARTS)[number]): string {
  const start = -SUM_PART_DIGITS * (part + 1);
  const digits = `cast(substr(substr(${column}, 3), ${start}, ${SUM_PART_DIGITS}) as integer)`;
  if (part < 2) return `sum(${digits})`;
  return `sum(case when ${column} > '${SUM_PART_DIGITS * part}~' then ${digits} else 0 end)`;
}

const SQLITE_TYPES: Readonly<Record<Exclude<ColumnType, 'boolean'>, string>> = {
  text: 'text',
  json: 'text',
  uint256: 'text',
  numeric: 'text',
  bytes: 'blob',
  count: 'integer',
  time: 'integer',
};

// Under any other collation PostgreSQL would sort and compare text unlike SQLite, and `uint256` not by amount.
const POSTGRES_TYPES: Readonly<Record<ColumnType, string>> = {
  text: 'text collate "C"',
  json: 'text collate "C"',
  uint256: 'text collate "C"',
  numeric: 'numeric(78, 0)',
  bytes: 'bytea',
  count: 'bigint',
  time: 'bigint',
  boolean: 'boolean',
};

function codeOf(error: unknown): string {
  return textOf(error, 'code');
}

function textOf(error: unknown, field: 'code' | 'message' | 'detail'): string {
  if (!(error instanceof Error)) return '';
  const value: unknown = Reflect.get(error, field);
  return typeof value === 'string' ? value : '';
}
