/** Value of a query. Integers are bigints, hashes and other hex are lower-case text, fractions are numbers. */
export type Value = bigint | number | string | boolean | null;

export function isNumber(value: Value): value is bigint | number {
  return typeof value === 'bigint' || typeof value === 'number';
}

/** Types of fields and expressions. A `time` is in seconds since the epoch, UTC. */
export type ValueType = 'integer' | 'time' | 'hex' | 'text' | 'real' | 'boolean';

/** Calendar units in UTC that a time can be truncated to. Weeks begin on Monday. */
export type Bucket = 'minute' | 'hour' | 'day' | 'week' | 'month';

/** Expression over one row. Names are public field names of the entity and already validated. */
export type RowExpression =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'literal'; readonly value: bigint | string }
  | Arithmetic<RowExpression>
  | { readonly kind: 'bucket'; readonly bucket: Bucket; readonly of: RowExpression }
  /** Reads the bytes of a hex value as an unsigned big-endian integer. */
  | { readonly kind: 'hexToInteger'; readonly of: RowExpression };

/** Operation on two operands of a row or of a group. */
export interface Arithmetic<Operand> {
  readonly kind: 'arithmetic';
  readonly operator: ArithmeticOperator;
  readonly left: Operand;
  readonly right: Operand;
}

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%';

/** Aggregate over the rows of a group. Partial results of several back ends can be merged. */
export type Fold =
  /** Counts rows, or rows in which `of` is not null. */
  | { readonly kind: 'count'; readonly of?: RowExpression }
  | { readonly kind: 'sum' | 'min' | 'max'; readonly of: RowExpression }
  /** Distinct values other than null. */
  | { readonly kind: 'distinct'; readonly of: RowExpression };

/** One group: its keys and one value per fold. The value of a `distinct` fold is a list. */
export interface Group {
  readonly keys: readonly Value[];
  readonly folds: readonly (Value | readonly Value[])[];
}
