import type { Dialect } from '../../db/dialect.ts';
import type { RowExpression } from '../../lib/groups/expression.ts';

/** A piece of SQL with the values of its question marks. */
export interface SqlText {
  readonly sql: string;
  readonly bindings: readonly unknown[];
}

/** Keys from one on and below another, both as scalars. */
export interface KeyRange {
  readonly from: SqlText;
  readonly below: SqlText;
  /** Keys of one part. */
  readonly step: number;
}

/** The SQL in which SQLite and PostgreSQL differ for queries, and the form of the values that they give. */
export interface QueryDialect extends Pick<Dialect, 'bytesLiteral' | 'nestedJoin'> {
  readonly expressions: ExpressionDialect;
  /** True when the rows of joins come in the order of the first table. */
  readonly keepsOrder: boolean;
  /** True when a sorted union stops at its limit: it merges two walks in that order. */
  readonly mergesUnions: boolean;
  /** True when rows of a frequent value are looked for among those of all values, in the order of their keys. */
  readonly walksAllValues: boolean;
  /** Value to compare a column of amounts with: any integer, also below and above all amounts. */
  amount(value: bigint): string;
  /** So many bytes without a bit. */
  zeroBytes(count: number): string;
  /** A column that no index is used for. */
  unindexed(column: string): string;
  /** Bytes as they are selected for a record. Null stays null. */
  recordBytes(bytes: string): string;
  /**
   * A table that splits a range of keys into parts, each from `first` to before `first` and the step, and between which a
   * walk can be ended. Null where a statement can be ended anyway.
   */
  partsOf(range: KeyRange): SqlText | null;
  /** Conditions that hold for every row, and through which a walk over rows can be ended. */
  interruption(key: string): readonly SqlText[];
  /** Decimal digits of an amount as a column has it. */
  digitsOf(text: string): string;
  /** The integer behind the text that stands for an integer beyond 64 bits. */
  integerOf(text: string): bigint;
  /** Lower-case `0x…` of what the driver gives for bytes. */
  hexOf(value: unknown): string;
}

/** An expression in SQL: fixed pieces and question marks. Of short integers, `below` is more than every amount of them. */
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
      /** The same to be added up, where another form is quicker to add. */
      readonly summed?: string;
    };

export type ArithmeticOperator = Extract<RowExpression, { kind: 'arithmetic' }>['operator'];

/** SQL of expressions. `short` integers have 64 bits, `long` ones any size. What is null makes null. */
export interface ExpressionDialect {
  /** A short integer as a long one. */
  widened(short: string): string;
  /** A literal, which is bound. */
  literal(form: 'short' | 'long', value: bigint): SqlText;
  /** Text, which is bound. */
  readonly text: string;
  /** The last 32 bytes as an unsigned integer, and the same to be added up. */
  integerOfBytes(bytes: string): { readonly sql: string; readonly summed: string };
  /** Of two integers, at least one of which is long or may become so. A remainder by zero is null. */
  longArithmetic(operator: Exclude<ArithmeticOperator, '/'>, left: string, right: string): string;
  /** Of two short integers whose result is short. A remainder by zero is null. */
  shortArithmetic(operator: Exclude<ArithmeticOperator, '/'>, left: string, right: string): string;
  /** An integer as a number with a fraction. */
  real(integer: CompiledExpression): string;
  /** Of two numbers with a fraction. A quotient by zero is null. */
  realArithmetic(operator: ArithmeticOperator, left: string, right: string): string;
  /** The beginning of the month, both in seconds. */
  startOfMonth(seconds: string): string;
  /** The total of an expression's values. `trustsIntegers` says that those of columns are safe JavaScript integers. */
  sum(compiled: CompiledExpression, trustsIntegers: boolean): string;
  /** Values with a least and a greatest one. */
  comparable(compiled: CompiledExpression): string;
}

/** A connection, or a transaction of one, on which queries run one after the other. */
export interface QuerySession {
  readonly dialect: QueryDialect;
  /** Runs a statement, and gives each row in the order of its columns. The statement ends with what `onRow` throws. */
  each(statement: SqlText, onRow: (row: readonly unknown[]) => void): Promise<void> | void;
}
