import type { Dialect } from '../../db/dialect.ts';
import type { ArithmeticOperator } from '../../query-model/expression.ts';

/** SQL text with the values of its placeholders. */
export interface SqlText {
  readonly sql: string;
  readonly bindings: readonly unknown[];
}

/** Range of keys from `from` (inclusive) to `below` (exclusive), both scalars. */
export interface SteppedKeyRange {
  readonly from: SqlText;
  readonly below: SqlText;
  /** Number of keys per part. */
  readonly step: number;
}

/** Differences between SQLite and PostgreSQL in the SQL of queries and in the form of values. */
export interface QueryDialect extends Pick<Dialect, 'bytesLiteral' | 'nestedJoin'> {
  readonly expressions: ExpressionDialect;
  /** True when joined rows keep the order of the first table. */
  readonly keepsOrder: boolean;
  /** True when a sorted union merges its two scans in order and stops at its limit. */
  readonly mergesUnions: boolean;
  /** True when the database finds rows of a frequent value by scanning all rows in key order. */
  readonly walksAllValues: boolean;
  /** Value to compare with a column of amounts. Accepts any integer, also outside the range of amounts. */
  amount(value: bigint): string;
  /** Column expression for which no index is used. */
  unindexed(column: string): string;
  /** Bytes as they are selected for a record. Null stays null. */
  recordBytes(bytes: string): string;
  /**
   * Table that splits a range of keys into parts of `step` keys, each starting at `first`. A scan can be cancelled
   * between two parts.
   * Null when statements can be cancelled in another way.
   */
  partsOf(range: SteppedKeyRange): SqlText | null;
  /** Conditions that are true for every row and let a scan be cancelled. */
  interruption(key: string): readonly SqlText[];
  /** Decimal digits of an amount in its column form. */
  digitsOf(text: string): string;
  /** Integer from the text form of integers beyond 64 bits. */
  integerOf(text: string): bigint;
  /** Lower-case `0x…` from the driver's form of bytes. */
  hexOf(value: unknown): string;
}

/** An expression in SQL with placeholders. Every short integer is smaller in amount than `below`. */
export type CompiledExpression =
  | {
      readonly form: 'short';
      readonly sql: string;
      readonly bindings: readonly unknown[];
      readonly below: bigint;
    }
  | {
      readonly form: 'long' | 'real' | 'bytes' | 'text';
      readonly sql: string;
      readonly bindings: readonly unknown[];
      /** Alternative form of the value that is faster to sum. */
      readonly summed?: string;
    };

/** SQL of expressions. `short` integers have 64 bits, `long` ones any size. Null operands give null. */
export interface ExpressionDialect {
  /** Converts a short integer to a long one. */
  widened(short: string): string;
  /** Bound integer literal. */
  literal(form: 'short' | 'long', value: bigint): SqlText;
  /** Placeholder of a bound text. */
  readonly text: string;
  /** Last 32 bytes as an unsigned integer, and its form for sums. */
  integerOfBytes(bytes: string): { readonly sql: string; readonly summed: string };
  /** Operation on two integers of which an operand or the result may be long. A remainder by zero is null. */
  longArithmetic(operator: Exclude<ArithmeticOperator, '/'>, left: string, right: string): string;
  /** Operation on two short integers with a short result. A remainder by zero is null. */
  shortArithmetic(operator: Exclude<ArithmeticOperator, '/'>, left: string, right: string): string;
  /** Integer as a floating-point number. */
  real(integer: CompiledExpression): string;
  /** Operation on two floating-point numbers. A quotient by zero is null. */
  realArithmetic(operator: ArithmeticOperator, left: string, right: string): string;
  /** Start of the month. Argument and result are in seconds. */
  startOfMonth(seconds: string): string;
  /** Sum of an expression. With `trustsIntegers`, integer columns hold safe JavaScript integers. */
  sum(compiled: CompiledExpression, trustsIntegers: boolean): string;
  /** Form of the values that `min` and `max` accept. */
  comparable(compiled: CompiledExpression): string;
}

/** Connection or transaction that runs queries one at a time. */
export interface QuerySession {
  readonly dialect: QueryDialect;
  /**
   * Runs a statement and passes each row in the order of its columns. An error thrown by `onRow` ends the statement and
   * is rethrown.
   */
  each(statement: SqlText, onRow: (row: readonly unknown[]) => void): Promise<void> | void;
}
