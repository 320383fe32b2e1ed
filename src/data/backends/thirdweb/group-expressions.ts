import type { Fold, RowExpression, ValueType } from '#lib/expression.ts';
import { BackendError } from '../port/backend-error.ts';
import type { Entity } from '../port/insights-backend.ts';
import { FIELDS } from '../port/query-fields.ts';
import { columnOf } from './selection.ts';

/*
 * Expressions as the text of upstream's grammar, which is SQL of ClickHouse. It is written from the tree alone: a name
 * comes out of the table of fields and a literal is digits, so nothing of a caller's gets there.
 */

/** An expression in upstream's words, and what its values are. */
export interface UpstreamExpression {
  readonly text: string;
  readonly type: ValueType;
  /** The values are days, which stand for their weeks. */
  readonly isWeek?: boolean;
}

/** Upstream's weeks begin on Sunday, so that ours are put together from days. */
const BUCKETS = {
  minute: 'toStartOfMinute',
  hour: 'toStartOfHour',
  day: 'toStartOfDay',
  week: 'toStartOfDay',
  month: 'toStartOfMonth',
} as const;

/** Bounds of what ClickHouse reads as an integer; beyond them digits become a floating-point number. */
const SMALLEST = -(2n ** 63n);
const LARGEST = 2n ** 64n - 1n;

/** @throws BackendError `unsupported` for what upstream cannot say, or would mean otherwise. */
export function written(entity: Entity, expression: RowExpression): UpstreamExpression {
  switch (expression.kind) {
    case 'field': {
      const field = Object.hasOwn(FIELDS[entity], expression.name)
        ? FIELDS[entity][expression.name]
        : undefined;
      if (field === undefined) throw cannot('such a field');
      return { text: columnOf(entity, expression.name), type: field.type };
    }
    case 'literal':
      return { text: literal(expression.value), type: 'integer' };
    case 'arithmetic': {
      const left = numeric(entity, expression.left);
      const right = numeric(entity, expression.right);
      const isReal = expression.operator === '/' || left.type === 'real' || right.type === 'real';
      return {
        text: `(${left.text} ${expression.operator} ${right.text})`,
        type: isReal ? 'real' : 'integer',
      };
    }
    case 'bucket': {
      const of = written(entity, expression.of);
      if (of.isWeek || (of.type !== 'time' && of.type !== 'integer')) throw cannot('times of such values');
      const moment = of.type === 'time' ? of.text : `toDateTime(${of.text})`;
      return {
        text: `${BUCKETS[expression.bucket]}(${moment})`,
        type: 'time',
        isWeek: expression.bucket === 'week',
      };
    }
    case 'hexToInteger': {
      const of = written(entity, expression.of);
      if (of.type !== 'hex') throw cannot('integers in such values');
      return { text: `reinterpretAsUInt256(reverse(unhex(substring(${of.text}, 3))))`, type: 'integer' };
    }
  }
}

/** A fold other than `distinct`, which upstream cannot answer as a list; its values have the type. */
export function writtenFold(entity: Entity, fold: Exclude<Fold, { kind: 'distinct' }>): UpstreamExpression {
  if (fold.kind === 'count') {
    return {
      text: fold.of === undefined ? 'count()' : `count(${written(entity, fold.of).text})`,
      type: 'integer',
    };
  }
  const of = fold.kind === 'sum' ? numeric(entity, fold.of) : written(entity, fold.of);
  return { ...of, text: `${fold.kind}(${of.text})` };
}

/** Times are no numbers upstream, and there is no telling what becomes of them. */
function numeric(entity: Entity, expression: RowExpression): UpstreamExpression {
  const of = written(entity, expression);
  if (of.type !== 'integer' && of.type !== 'real') throw cannot('arithmetic on such values');
  return of;
}

function literal(value: bigint | string): string {
  if (typeof value === 'string') throw cannot('texts in expressions');
  if (value < SMALLEST) throw cannot('integers that small');
  if (value > LARGEST) return `toUInt256('${value}')`;
  return value < 0n ? `(${value})` : value.toString();
}

function cannot(what: string): BackendError {
  return new BackendError('unsupported', 'no_such_answer', `it cannot do ${what}`);
}
