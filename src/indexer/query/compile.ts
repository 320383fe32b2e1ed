import type { ArithmeticOperator, Bucket, RowExpression } from '../../query-model/expression.ts';
import type { Entity } from '../../query-model/row-selection.ts';
import { columnOf, type FieldSql } from './columns.ts';
import type { CompiledExpression, QueryDialect } from './query-dialect.ts';

export interface CompileContext {
  readonly entity: Entity;
  readonly dialect: QueryDialect;
  /** True when integer columns are assumed to hold safe JavaScript integers. The index writes no others. */
  readonly trustsIntegers: boolean;
}

/** Bound of integer columns, which are written from JavaScript numbers. */
const SAFE = 2n ** 53n;
const MAX_SHORT = 2n ** 62n;

/** Lengths in seconds of the buckets of equal length. `from` is the start of one bucket. */
const EVEN: Readonly<Record<Exclude<Bucket, 'month'>, { seconds: number; from: number }>> = {
  minute: { seconds: 60, from: 0 },
  hour: { seconds: 3600, from: 0 },
  day: { seconds: 86_400, from: 0 },
  // The Monday before the epoch, which was a Thursday.
  week: { seconds: 604_800, from: -259_200 },
};

/**
 * Compiles an expression over the columns of an entity. `/` is a quotient with a fraction. `%` has the sign of the
 * dividend. Both are null for a divisor of zero.
 * @throws TypeError when the operand types do not fit
 */
export function compile(expression: RowExpression, compiling: CompileContext): CompiledExpression {
  switch (expression.kind) {
    case 'field':
      return column(columnOf(compiling.entity, expression.name, compiling.dialect), compiling);
    case 'literal':
      return literal(expression.value, compiling);
    case 'bucket':
      return bucket(expression.bucket, compile(expression.of, compiling), compiling);
    case 'hexToInteger': {
      const { form, sql, bindings } = compile(expression.of, compiling);
      if (form !== 'bytes') throw new TypeError(`${form} is not bytes.`);
      return { form: 'long', bindings, ...compiling.dialect.expressions.integerOfBytes(sql) };
    }
    case 'arithmetic': {
      const left = compile(expression.left, compiling);
      const right = compile(expression.right, compiling);
      return arithmetic(expression.operator, { left, right }, compiling);
    }
  }
}

function column({ sql, storage }: FieldSql, { trustsIntegers, dialect }: CompileContext): CompiledExpression {
  const bindings: readonly unknown[] = [];
  switch (storage) {
    case 'integer':
      if (trustsIntegers) return { form: 'short', sql, bindings, below: SAFE };
      return { form: 'long', sql: dialect.expressions.widened(sql), bindings };
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

function literal(value: bigint | string, { dialect }: CompileContext): CompiledExpression {
  const { expressions } = dialect;
  if (typeof value === 'string') return { form: 'text', sql: expressions.text, bindings: [value] };
  const below = (value < 0n ? -value : value) + 1n;
  if (below > MAX_SHORT) return { form: 'long', ...expressions.literal('long', value) };
  return { form: 'short', ...expressions.literal('short', value), below };
}

function bucket(name: Bucket, of: CompiledExpression, { dialect }: CompileContext): CompiledExpression {
  if (of.form !== 'short') throw new TypeError(`${of.form} is not a time.`);
  const { bindings, below, form } = of;
  if (name === 'month') return { form, sql: dialect.expressions.startOfMonth(of.sql), bindings, below };
  const { seconds, from } = EVEN[name];
  const sql =
    from === 0
      ? `(${of.sql} / ${seconds} * ${seconds})`
      : `((${of.sql} - ${from}) / ${seconds} * ${seconds} + ${from})`;
  return { form, sql, bindings, below };
}

function arithmetic(
  operator: ArithmeticOperator,
  { left, right }: { left: CompiledExpression; right: CompiledExpression },
  { dialect: { expressions } }: CompileContext,
): CompiledExpression {
  const bindings = [...left.bindings, ...right.bindings];
  if (operator === '/' || left.form === 'real' || right.form === 'real') {
    if (operator === '%') throw new TypeError('A remainder needs two integers.');
    const [dividend, divisor] = [left, right].map(side => {
      if (side.form === 'real') return side.sql;
      requireInteger(side);
      return expressions.real(side);
    });
    return { form: 'real', sql: expressions.realArithmetic(operator, `${dividend}`, `${divisor}`), bindings };
  }
  requireInteger(left);
  requireInteger(right);
  if (left.form === 'short' && right.form === 'short') {
    const below = boundOf(operator, left.below, right.below);
    // Beyond 64 bits SQLite would continue with rounded numbers, and PostgreSQL would fail.
    if (below <= MAX_SHORT) {
      return {
        form: 'short',
        sql: expressions.shortArithmetic(operator, left.sql, right.sql),
        bindings,
        below,
      };
    }
  }
  return { form: 'long', sql: expressions.longArithmetic(operator, left.sql, right.sql), bindings };
}

function boundOf(operator: '+' | '-' | '*' | '%', left: bigint, right: bigint): bigint {
  if (operator === '%') return left;
  return operator === '*' ? left * right : left + right;
}

function requireInteger({ form }: CompiledExpression): void {
  if (form === 'bytes' || form === 'text') throw new TypeError(`Arithmetic needs numbers, got ${form}.`);
}
