import type { Shape } from '#query-model/aggregation-plan.ts';
import type { ArithmeticOperator, Bucket, RowExpression } from '#query-model/expression.ts';
import { fieldNamed, fieldShape } from '#query-model/fields.ts';
import type { Entity } from '#query-model/row-selection.ts';
import { type ExpressionSource, invalidAt, quoted } from './expression-source.ts';
import type { FunctionCall, Node } from './parse.ts';

/** An expression over the fields of one row, with the shape of its values. */
export interface TypedRow {
  readonly expression: RowExpression;
  readonly shape: Shape;
}

const AGGREGATES = ['count', 'countdistinct', 'uniq', 'sum', 'avg', 'min', 'max'] as const;

/** Virtual columns. Each is the start of the block's minute, hour, day, week or month. */
const BUCKETS: readonly Bucket[] = ['minute', 'hour', 'day', 'week', 'month'];
const MOMENT: Shape = { type: 'moment', isNumber: false };

/** Functions that truncate a time, by lower-case name; `undefined` leaves it unchanged. */
const CUTS: Readonly<Record<string, Bucket | undefined>> = {
  tostartofminute: 'minute',
  tostartofhour: 'hour',
  tostartofday: 'day',
  tostartofweek: 'week',
  tostartofmonth: 'month',
  todate: 'day',
  todatetime: undefined,
};

/** Resolves a field, by any of its names, or a virtual column; undefined for any other name. */
export function columnNamed(entity: Entity, name: string): TypedRow | undefined {
  const field = fieldNamed(entity, name);
  const shape = field === undefined ? undefined : fieldShape(entity, field);
  if (field !== undefined && shape !== undefined)
    return { expression: { kind: 'field', name: field }, shape };
  const bucket = BUCKETS.find(one => one === name);
  const of: RowExpression = { kind: 'field', name: 'block_timestamp' };
  return bucket && { expression: { kind: 'bucket', bucket, of }, shape: MOMENT };
}

/** Resolves a parsed expression for one row. @throws InvalidParameter, also for an aggregate in it. */
export function rowOf(entity: Entity, source: ExpressionSource, node: Node): TypedRow {
  const refuse = (at: Node, rule: string) => invalidAt(source, at.offset, rule);
  const number = (value: bigint): TypedRow => ({
    expression: { kind: 'literal', value },
    shape: { type: 'integer', isNumber: true },
  });

  const visit = (at: Node): TypedRow => {
    if (at.kind === 'number') return at.scale === 0 ? number(at.digits) : fraction(at.digits, at.scale);
    if (at.kind === 'binary') {
      const left = visit(at.left);
      const right = visit(at.right);
      const shape = resultShape(at.operator, left.shape, right.shape);
      if (typeof shape === 'string') throw refuse(at, shape);
      const operands = { left: left.expression, right: right.expression };
      return { expression: { kind: 'arithmetic', operator: at.operator, ...operands }, shape };
    }
    if (at.kind === 'call') return call(at);
    const column = columnNamed(entity, at.name);
    if (column === undefined) throw refuse(at, `${quoted(at.name)} is not a field`);
    return column;
  };

  const fraction = (digits: bigint, scale: number): TypedRow => ({
    expression: {
      kind: 'arithmetic',
      operator: '/',
      left: { kind: 'literal', value: digits },
      right: { kind: 'literal', value: 10n ** BigInt(scale) },
    },
    shape: { type: 'real', isNumber: true },
  });

  const call = (at: FunctionCall): TypedRow => {
    const name = at.name.toLowerCase();
    if (isAggregate(at))
      throw refuse(at, `${quoted(at.name)} must not be used inside a function or to group by`);
    if (at.isStar || at.isDistinct) throw refuse(at, `only count takes "${at.isStar ? '*' : 'distinct'}"`);
    if (name === 'reinterpretasuint256') return hexToInteger(at);
    if (!Object.hasOwn(CUTS, name)) throw refuse(at, `${quoted(at.name)} is not a function`);
    const of = visit(onlyArgument(at, refuse));
    if (of.shape.type !== 'time' && of.shape.type !== 'moment') throw refuse(at, `${at.name} takes a time`);
    const bucket = CUTS[name];
    return {
      expression: bucket === undefined ? of.expression : cut(bucket, of.expression),
      shape: MOMENT,
    };
  };

  /** Reads `reinterpretAsUInt256(reverse(unhex(substring(x, 3))))`: the number in the bytes after `0x`. */
  const hexToInteger = (at: FunctionCall): TypedRow => {
    const reversed = argumentCalled('reverse', at);
    const bytes = reversed && argumentCalled('unhex', reversed);
    const digits = bytes && argumentCalled('substring', bytes);
    const [of, from, ...more] = digits?.args ?? [];
    const isForm = from?.kind === 'number' && from.digits === 3n && from.scale === 0 && more.length === 0;
    if (of === undefined || !isForm) {
      throw refuse(
        at,
        `${at.name} is known only as reinterpretAsUInt256(reverse(unhex(substring(field, 3))))`,
      );
    }
    const { expression, shape } = visit(of);
    if (shape.type !== 'hex') throw refuse(of, `${at.name} takes a field of hex`);
    return {
      expression: { kind: 'hexToInteger', of: expression },
      shape: { type: 'integer', isNumber: false },
    };
  };

  return visit(node);
}

export function isAggregate({ name }: FunctionCall): boolean {
  return AGGREGATES.some(one => one === name.toLowerCase());
}

/** @throws the error that `refuse` makes when the number of arguments is not one. */
export function onlyArgument(call: FunctionCall, refuse: (at: Node, rule: string) => Error): Node {
  const [of, ...more] = call.args;
  if (of === undefined || more.length > 0) throw refuse(call, `${call.name} takes one argument`);
  return of;
}

function argumentCalled(name: string, { args: [of, ...more] }: FunctionCall): FunctionCall | undefined {
  const isIt = of?.kind === 'call' && of.name.toLowerCase() === name && !of.isStar && !of.isDistinct;
  return isIt && more.length === 0 ? of : undefined;
}

/** Coarseness of a bucket. Minutes, hours and days fit evenly into the next rank; weeks do not fit into months. */
const RANK: Readonly<Record<Bucket, number>> = { minute: 0, hour: 1, day: 2, week: 3, month: 3 };

/** Truncates to a bucket. Nested buckets become one where the result is equal, so that equal keys are recognized. */
function cut(bucket: Bucket, of: RowExpression): RowExpression {
  if (of.kind !== 'bucket') return { kind: 'bucket', bucket, of };
  if (of.bucket === bucket || RANK[bucket] < RANK[of.bucket]) return of;
  return RANK[of.bucket] < RANK.week ? cut(bucket, of.of) : { kind: 'bucket', bucket, of };
}

export const COUNT: Shape = { type: 'integer', isNumber: true };
export const REAL: Shape = { type: 'real', isNumber: true };

export function isNumeric({ type }: Shape): boolean {
  return type === 'integer' || type === 'time' || type === 'real';
}

/**
 * Shape of `left operator right`, or an error message. A quotient has a fraction; a remainder takes integers; every
 * other result is exact if both sides are.
 */
export function resultShape(operator: ArithmeticOperator, left: Shape, right: Shape): Shape | string {
  if (!isNumeric(left) || !isNumeric(right)) return `"${operator}" takes numbers`;
  const isReal = left.type === 'real' || right.type === 'real';
  if (operator === '%' && isReal) return '"%" takes integers';
  if (operator === '/' || isReal) return REAL;
  return { type: 'integer', isNumber: left.isNumber && right.isNumber };
}
