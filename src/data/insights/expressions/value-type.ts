import type { ValueType } from '#lib/expression.ts';
import type { Operator } from './parse.ts';

/** What kind of value an expression has, and how it is written; `moment` is a time written as text. */
export interface Shape {
  readonly type: ValueType | 'moment';
  /** Whether exact integers are JSON numbers, as those of number fields are; else they are decimal text. */
  readonly isNumber: boolean;
}

export const COUNT: Shape = { type: 'integer', isNumber: true };
export const REAL: Shape = { type: 'real', isNumber: true };

export function isNumeric({ type }: Shape): boolean {
  return type === 'integer' || type === 'time' || type === 'real';
}

/**
 * The shape of `left operator right`, or what is wrong with it. A quotient has a fraction; a remainder is one of
 * integers; everything else is exact while both sides are.
 */
export function shapeOf(operator: Operator, left: Shape, right: Shape): Shape | string {
  if (!isNumeric(left) || !isNumeric(right)) return `"${operator}" takes numbers`;
  const isReal = left.type === 'real' || right.type === 'real';
  if (operator === '%' && isReal) return '"%" takes integers';
  if (operator === '/' || isReal) return REAL;
  return { type: 'integer', isNumber: left.isNumber && right.isNumber };
}
