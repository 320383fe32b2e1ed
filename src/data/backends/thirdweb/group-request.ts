import type { Fold, RowExpression, ValueType } from '#query-model/expression.ts';
import { fieldShape } from '#query-model/fields.ts';
import type { Entity } from '#query-model/row-selection.ts';
import { BackendError } from '../port/backend-error.ts';
import type { GroupSelection } from '../port/insights-backend.ts';
import { upstreamColumn } from './selection.ts';
import type { Parameters } from './source.ts';

/** Column of every row, named by upstream or by us. */
export interface UpstreamGroupColumn extends UpstreamExpression {
  readonly name: string;
}

/** Grouped query in upstream's terms. */
export interface GroupRequest {
  /** Grouping columns: the query's keys, then the expressions whose distinct values are requested. */
  readonly keys: readonly UpstreamGroupColumn[];
  /** Column of each fold: a column of its own or, for distinct values, a grouping column. */
  readonly folds: readonly UpstreamGroupColumn[];
  /** Number of rows in a group. */
  readonly count: UpstreamGroupColumn;
  /** Parameters without the page. */
  readonly parameters: Parameters;
}

const COUNT: UpstreamGroupColumn = { name: 'n', text: 'count()', type: 'integer' };

/**
 * Builds the upstream query. Upstream cannot list distinct values, but can group by them, so they become keys of
 * smaller groups. Chains stay separate, so that no group comes twice.
 * @throws BackendError `unsupported`
 */
export function groupRequest({ entity, keys, folds }: GroupSelection, isOneChain: boolean): GroupRequest {
  const key = (expression: RowExpression, alias: string): UpstreamGroupColumn => {
    const of = written(entity, expression);
    return { ...of, name: expression.kind === 'field' ? upstreamColumn(entity, expression.name) : alias };
  };
  const fold = (one: Fold, index: number): UpstreamGroupColumn =>
    one.kind === 'distinct' ? key(one.of, `d${index}`) : { ...writtenFold(entity, one), name: `f${index}` };
  const grouped = keys.map((expression, index) => key(expression, `k${index}`));
  const folded = folds.map(fold);
  const distinct = folded.filter((_column, index) => folds[index]?.kind === 'distinct');
  const values = folded.filter((_column, index) => folds[index]?.kind !== 'distinct');
  const all = [...grouped, ...distinct];

  const names = new Set([...(isOneChain ? [] : ['chain_id']), ...all.map(({ name }) => name)]);
  const computed = [...all.filter(({ name, text }) => name !== text), ...values, COUNT];
  const [first] = names;
  return {
    keys: all,
    folds: folded,
    count: COUNT,
    parameters: [
      ...computed.map(({ name, text }) => ['aggregate', `${text} as ${name}`] as const),
      ...[...names].map(name => ['group_by', name] as const),
      // Unordered pages would repeat rows.
      ...(first === undefined
        ? []
        : ([
            ['sort_by', first],
            ['sort_order', 'asc'],
          ] as const)),
    ],
  };
}

/*
 * Writers of expressions in upstream's grammar, which is ClickHouse SQL. Names come from the table of fields and
 * literals are digits, so no caller's text gets into the SQL.
 */

/** Expression in upstream's grammar with the type of its values. */
interface UpstreamExpression {
  readonly text: string;
  readonly type: ValueType;
  /** True when the values are days that represent their weeks. */
  readonly isWeek?: boolean;
}

/** Upstream functions by calendar unit. Upstream's weeks begin on Sunday, so ours are merged from days. */
const BUCKETS = {
  minute: 'toStartOfMinute',
  hour: 'toStartOfHour',
  day: 'toStartOfDay',
  week: 'toStartOfDay',
  month: 'toStartOfMonth',
} as const;

/** Bounds of ClickHouse's integer literals. Longer ones become floating-point numbers. */
const SMALLEST = -(2n ** 63n);
const LARGEST = 2n ** 64n - 1n;

/** Writes an expression. @throws BackendError `unsupported` for one that upstream lacks or interprets differently. */
function written(entity: Entity, expression: RowExpression): UpstreamExpression {
  switch (expression.kind) {
    case 'field': {
      const field = fieldShape(entity, expression.name);
      if (field === undefined) throw cannot('such a field');
      return { text: upstreamColumn(entity, expression.name), type: field.type };
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
      const dateTime = of.type === 'time' ? of.text : `toDateTime(${of.text})`;
      return {
        text: `${BUCKETS[expression.bucket]}(${dateTime})`,
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

/** Writes a fold other than `distinct`, which upstream cannot return as a list. The type is that of its values. */
function writtenFold(entity: Entity, fold: Exclude<Fold, { kind: 'distinct' }>): UpstreamExpression {
  if (fold.kind === 'count') {
    return {
      text: fold.of === undefined ? 'count()' : `count(${written(entity, fold.of).text})`,
      type: 'integer',
    };
  }
  const of = fold.kind === 'sum' ? numeric(entity, fold.of) : written(entity, fold.of);
  return { ...of, text: `${fold.kind}(${of.text})` };
}

/** Writes a numeric operand. Upstream's times are no numbers, and arithmetic on them is undefined. */
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
