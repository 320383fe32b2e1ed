import pg from 'pg';
import { Unavailable } from '../lib/unavailable.ts';
import { type Binding, type ColumnType, SUM_PART_DIGITS, uintColumn } from './columns.ts';

/**
 * Rows with given column values and with keys between bounds: a contiguous section of an index over `columns`, then
 * `keys`.
 */
export interface KeyRange {
  readonly columns: readonly string[];
  readonly values: readonly Binding[];
  readonly keys: readonly string[];
  /** Exclusive bounds: keys lie after `above` and before `below`. An absent bound is open. */
  readonly above?: readonly Binding[] | undefined;
  readonly below?: readonly Binding[] | undefined;
  readonly order: 'asc' | 'desc';
}

/** Condition, and the `order by` clause for its rows. */
export interface OrderedSql {
  readonly sql: string;
  readonly bindings: readonly Binding[];
  readonly order: string;
}

/** SQL that differs between SQLite and PostgreSQL. Available as `handle.dialect`. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  /** Suffix after the column list of `create table`. */
  readonly afterTable: string;
  /** Suffix after `afterTable` for a table whose key is not one integer. */
  readonly withoutRowId: string;
  /** Declaration of a key that the database counts up and never uses again. */
  readonly numberedKey: string;
  /** Storage of a column that the database computes. */
  readonly computed: 'virtual' | 'stored';
  /** True when every index ends in a key of one integer without naming it. */
  readonly indexesEndInKey: boolean;
  /**
   * Prefix before `table` in `create table` for tables that a crash may empty, so that writes do not wait for the disk.
   */
  readonly unlogged: string;
  /** Expression for random lower-case hexadecimal digits: an even number, at most 32. */
  randomHex(digits: number): string;
  /** Condition that a value is in the result of a `select`. The `select` runs first, once, and is not joined. */
  among(select: string): string;
  /**
   * Rows with a column `value`, one per element of a bound JSON array. The statement text does not depend on the number
   * of elements.
   */
  readonly jsonElements: string;
  /** Binding to compare a column of type `numeric` with an unsigned integer of up to 256 bits. */
  numeric(value: bigint): string;
  /** Bytes as an SQL literal, for queries whose condition must match that of a partial index exactly. */
  bytesLiteral(hex: string): string;
  /** Expression for bytes as lower-case `0x…`; null for null. */
  hex(column: string): string;
  /** Join operator for a following table with `on`. SQLite keeps the written order; PostgreSQL chooses its own. */
  readonly nestedJoin: 'cross join' | 'join';
  /** Forces SQLite to use an index that it would not choose. PostgreSQL chooses by its statistics. */
  indexedBy(index: string): string;
  /**
   * Condition and order for a range of keys. It always uses the index over the columns, however frequent a value is.
   * Otherwise, for a frequent value, PostgreSQL scans the rows of all values in key order until it has enough.
   */
  keyRange(range: KeyRange): OrderedSql;
  /** Function that returns the position of a text in a column; 0 when absent. */
  readonly position: string;
  /** Expression for the exact sum of a `uint256` column over a group, to be decoded by `uintSumOf`. */
  exactSum(column: string): string;
  /** Declaration of a column's type, including checks. */
  columnType(type: ColumnType, column: string): string;
  /** True for a conflict with another transaction: this one had no effect and may be retried. */
  isRetryable(error: unknown): boolean;
  /**
   * Sentence without its period, for clients, when the database is at fault and not the statement: it is stopped,
   * starting, unreachable, read-only, locked or out of space. Undefined for any other error.
   */
  outageOf(error: unknown): string | undefined;
  /** True when the statement's data is at fault, by a schema constraint or a value: every retry fails. */
  isOfRows(error: unknown): boolean;
  /** Columns of the unique index that an `insert` or `update` violated; undefined for any other error. */
  violatedColumns(error: unknown): readonly string[] | undefined;
}

export const sqliteDialect: Dialect = {
  name: 'sqlite',
  afterTable: ' strict',
  withoutRowId: ', without rowid',
  numberedKey: 'primary key autoincrement',
  computed: 'virtual',
  indexesEndInKey: true,
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
    const bound = (sign: string, key: readonly Binding[] | undefined) =>
      key === undefined ? [] : [`${rowOf(keys)} ${sign} ${rowOf(keys.map(() => '?'))}`];
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
  // A write fails, or so does enlarging the file that connections share. Source: SQLite, "Result and Error Codes".
  outageOf(error) {
    if (/^SQLITE_(?:FULL|IOERR|READONLY)/.test(codeOf(error))) return UNWRITABLE;
    return /^SQLITE_(?:BUSY|LOCKED)/.test(codeOf(error)) ? BUSY : undefined;
  },
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
  withoutRowId: '',
  numberedKey: 'generated always as identity primary key',
  computed: 'stored',
  indexesEndInKey: false,
  unlogged: 'unlogged ',
  randomHex: digits => `substr(replace(gen_random_uuid()::text, '-', ''), 1, ${digits})`,
  among: select => `= any (array(${select}))`,
  jsonElements: 'json_array_elements(?::json)',
  numeric: value => value.toString(),
  bytesLiteral: hex => `decode('${hex.slice(2)}', 'hex')`,
  hex: column => `'0x' || encode(${column}, 'hex')`,
  nestedJoin: 'join',
  indexedBy: () => '',
  // Rows of a value are found by a row comparison, `(column, key) < (…)`, not by an equality. For a value that most
  // rows have, the planner would read the newest rows of all values until enough of them match, which may be a large
  // part of the table. The comparison makes it use the index over the column for frequent and rare values, however old
  // the statistics are. Planner settings stay as they are.
  keyRange({ columns, values, keys, above, below, order }) {
    const bound = (sign: string, key: readonly Binding[] | undefined) => {
      const bounded = key === undefined ? columns : [...columns, ...keys];
      const either = key === undefined ? `${sign}=` : sign;
      return bounded.length === 0 ? [] : [`${rowOf(bounded)} ${either} ${rowOf(bounded.map(() => '?'))}`];
    };
    // A row comparison does not imply that columns are not null, which partial indexes require.
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
  // Any error that is neither of the server nor of the program is a lost connection.
  outageOf(error) {
    if (error instanceof TypeError || error instanceof RangeError) return undefined;
    if (!(error instanceof pg.DatabaseError)) return UNREACHABLE;
    return POSTGRES_OUTAGES.find(([codes]) => codes.test(codeOf(error)))?.[1];
  },
  // Data exceptions and integrity constraint violations. Source: as above.
  isOfRows: error => error instanceof pg.DatabaseError && /^2[23]/.test(codeOf(error)),
  violatedColumns(error) {
    if (codeOf(error) !== '23505') return undefined;
    const [, columns = ''] = /^Key \((.+?)\)=/.exec(textOf(error, 'detail')) ?? [];
    return columns.split(', ');
  },
};

const UNREACHABLE = 'The database cannot be reached now';
const UNWRITABLE = 'The database cannot be written now';
const BUSY = 'The database is busy now';

/** Error codes of a server that cannot do what every supported server can. Source: PostgreSQL, "Error Codes". */
const POSTGRES_OUTAGES: readonly (readonly [codes: RegExp, what: string])[] = [
  // connection_exception, too_many_connections, admin_shutdown, crash_shutdown, cannot_connect_now
  [/^(?:08...|53300|57P0[123])$/, UNREACHABLE],
  // read_only_sql_transaction; feature_not_supported, as serializable transactions on a hot standby are; disk_full and
  // the other insufficient_resources; io_error
  [/^(?:25006|0A000|53...|58030)$/, UNWRITABLE],
  // lock_not_available and query_canceled, by its time limit
  [/^(?:55P03|57014)$/, BUSY],
];

function rowOf(parts: readonly string[]): string {
  return parts.length === 1 ? parts.join() : `(${parts.join(', ')})`;
}

// SQLite adds 64-bit integers and fails on overflow. Parts of twelve digits leave room for nine million rows.
const SQLITE_PARTS = [0, 1, 2, 3, 4, 5, 6] as const;

/** Sum of twelve decimal digits of each value; part 0 is the lowest. Few values have digits beyond part 1. */
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
  int: 'integer',
  small: 'integer',
  time: 'integer',
};

// Any other collation would sort and compare text unlike SQLite, and `uint256` not by amount.
const POSTGRES_TYPES: Readonly<Record<ColumnType, string>> = {
  text: 'text collate "C"',
  json: 'text collate "C"',
  uint256: 'text collate "C"',
  numeric: 'numeric(78, 0)',
  bytes: 'bytea',
  count: 'bigint',
  int: 'integer',
  small: 'smallint',
  time: 'bigint',
  boolean: 'boolean',
};

/** Code of the database's error, also of one that was reported as an outage. */
function codeOf(error: unknown): string {
  return textOf(error instanceof Unavailable ? error.cause : error, 'code');
}

function textOf(error: unknown, field: 'code' | 'message' | 'detail'): string {
  if (!(error instanceof Error)) return '';
  const value: unknown = Reflect.get(error, field);
  return typeof value === 'string' ? value : '';
}
