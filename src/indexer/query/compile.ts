import type { Bucket, RowExpression } from '../../lib/expression.ts';
import { type Column, columnOf } from './entities.ts';
import { sortable } from './functions.ts';
import type { Entity } from './query.ts';

/**
 * An expression in SQL: fixed pieces and question marks. `long` integers are `sortable` text; of SQLite's own, `short`,
 * `below` is more than every amount of them.
 */
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
    };

export interface CompileContext {
  readonly entity: Entity;
  /** Whether integer columns are taken to be what they are written from, safe JavaScript integers. */
  readonly trustsIntegers: boolean;
}

/** Integer columns are written from JavaScript numbers. */
const SAFE = 2n ** 53n;
const MAX_SHORT = 2n ** 62n;

const CALLS = {
  '+': 'exact_add',
  '-': 'exact_subtract',
  '*': 'exact_multiply',
  '%': 'exact_remainder',
} as const;

/** Lengths in seconds of the buckets that divide time evenly, from the given second on. */
const EVEN: Readonly<Record<Exclude<Bucket, 'month'>, { seconds: number; from: number }>> = {
  minute: { seconds: 60, from: 0 },
  hour: { seconds: 3600, from: 0 },
  day: { seconds: 86_400, from: 0 },
  // The Monday before the epoch, which was a Thursday.
  week: { seconds: 604_800, from: -259_200 },
};

/**
 * Compiles an expression over the columns of an entity. `/` is a quotient with a fraction, `%` has the sign of the
 * dividend, and both are null for a divisor of zero. @throws TypeError when the types do not fit.
 */
export function compile(expression: RowExpression, compiling: CompileContext): CompiledExpression {
  switch (expression.kind) {
    case 'field':
      return column(columnOf(compiling.entity, expression.name), compiling);
    case 'literal':
      return literal(expression.value);
    case 'bucket':
      return bucket(expression.bucket, compile(expression.of, compiling));
    case 'hexToInteger': {
      const { sql, bindings } = digitsOf(expression.of, compiling);
      return { form: 'long', sql: `exact(${sql})`, bindings };
    }
    case 'arithmetic': {
      const left = compile(expression.left, compiling);
      const right = compile(expression.right, compiling);
      return arithmetic(expression.operator, left, right);
    }
  }
}

/**
 * The last 32 bytes of what is bytes, as `0x` and digits, which the `exact_*` functions take for an integer.
 * Text is given to JavaScript several times faster than bytes are.
 */
export function digitsOf(
  of: RowExpression,
  compiling: CompileContext,
): Pick<CompiledExpression, 'sql' | 'bindings'> {
  const { form, sql, bindings } = compile(of, compiling);
  if (form !== 'bytes') throw new TypeError(`${form} has no bytes.`);
  return { sql: `'0x' || hex(substr(${sql}, -32))`, bindings };
}

function column({ sql, storage }: Column, { trustsIntegers }: CompileContext): CompiledExpression {
  const bindings: readonly unknown[] = [];
  switch (storage) {
    case 'integer':
      if (trustsIntegers) return { form: 'short', sql, bindings, below: SAFE };
      return { form: 'long', sql: `exact(${sql})`, bindings };
    case 'uint256':
      return { form: 'long', sql, bindings };
    case 'blob':
      return { form: 'bytes', sql, bindings };
    case 'text':
      return { form: 'text', sql, bindings };
    case 'time_ms':
      return { form: 'short', sql: `(${sql} / 1000)`, bindings, below: SAFE };
  }
}

function literal(value: bigint | string): CompiledExpression {
  if (typeof value === 'string') return { form: 'text', sql: '?', bindings: [value] };
  const below = (value < 0n ? -value : value) + 1n;
  if (below > MAX_SHORT) return { form: 'long', sql: '?', bindings: [sortable(value)] };
  return { form: 'short', sql: '?', bindings: [value], below };
}

function bucket(name: Bucket, of: CompiledExpression): CompiledExpression {
  if (of.form !== 'short') throw new TypeError(`${of.form} is no time.`);
  const { bindings, below, form } = of;
  if (name === 'month') {
    return { form, sql: `unixepoch(${of.sql}, 'unixepoch', 'start of month')`, bindings, below };
  }
  const { seconds, from } = EVEN[name];
  const sql =
    from === 0
      ? `(${of.sql} / ${seconds} * ${seconds})`
      : `((${of.sql} - ${from}) / ${seconds} * ${seconds} + ${from})`;
  return { form, sql, bindings, below };
}

function arithmetic(
  operator: '+' | '-' | '*' | '/' | '%',
  left: CompiledExpression,
  right: CompiledExpression,
): CompiledExpression {
  const bindings = [...left.bindings, ...right.bindings];
  if (operator === '/' || left.form === 'real' || right.form === 'real') {
    if (operator === '%') throw new TypeError('What has a fraction has no remainder.');
    return { form: 'real', sql: `(${real(left)} ${operator} ${real(right)})`, bindings };
  }
  requireInteger(left);
  requireInteger(right);
  if (left.form === 'short' && right.form === 'short') {
    const below = boundOf(operator, left.below, right.below);
    // Beyond 64 bits SQLite would go on with rounded numbers.
    if (below <= MAX_SHORT) {
      return { form: 'short', sql: `(${left.sql} ${operator} ${right.sql})`, bindings, below };
    }
  }
  return { form: 'long', sql: `${CALLS[operator]}(${left.sql}, ${right.sql})`, bindings };
}

function boundOf(operator: '+' | '-' | '*' | '%', left: bigint, right: bigint): bigint {
  if (operator === '%') return left;
  return operator === '*' ? left * right : left + right;
}

function real(compiled: CompiledExpression): string {
  if (compiled.form === 'real') return compiled.sql;
  requireInteger(compiled);
  return compiled.form === 'short' ? `cast(${compiled.sql} as real)` : `as_real(${compiled.sql})`;
}

function requireInteger({ form }: CompiledExpression): void {
  if (form === 'bytes' || form === 'text') throw new TypeError(`There is no arithmetic with ${form}.`);
}
