/** A value of a query: exact integers are bigints, hashes and other hex lower-case text, numbers only what has a fraction. */
export type Value = bigint | number | string | boolean | null;

/** The kinds of values that fields and expressions have. A `time` is in seconds since the epoch, UTC. */
export type ValueType = 'integer' | 'time' | 'hex' | 'text' | 'real' | 'boolean';

/** Spans of time that a moment is cut down to, by the calendar in UTC; weeks begin on Monday. */
export type Bucket = 'minute' | 'hour' | 'day' | 'week' | 'month';

/** What is worked out for every row. Names are the public ones of the entity's fields, already known to exist. */
export type RowExpression =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'literal'; readonly value: bigint | string }
  | Arithmetic<RowExpression>
  | { readonly kind: 'bucket'; readonly bucket: Bucket; readonly of: RowExpression }
  /** The unsigned integer that the bytes of a hex value are, the most significant first. */
  | { readonly kind: 'hexToInteger'; readonly of: RowExpression };

/** Operation on two operands of a row or of a group. */
export interface Arithmetic<Operand> {
  readonly kind: 'arithmetic';
  readonly operator: ArithmeticOperator;
  readonly left: Operand;
  readonly right: Operand;
}

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%';

/** What is worked out for every group of rows, in a form that can be merged with the same of other rows. */
export type Fold =
  /** Rows, or rows in which `of` is not null. */
  | { readonly kind: 'count'; readonly of?: RowExpression }
  | { readonly kind: 'sum' | 'min' | 'max'; readonly of: RowExpression }
  /** The different values other than null, each once. */
  | { readonly kind: 'distinct'; readonly of: RowExpression };

/** One group: its keys, and for every fold its value; those of `distinct` are lists. */
export interface Group {
  readonly keys: readonly Value[];
  readonly folds: readonly (Value | readonly Value[])[];
}
