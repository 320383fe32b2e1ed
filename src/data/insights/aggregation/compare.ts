import type { Value } from '#lib/expression.ts';
import { compareValues } from '#lib/merge-groups.ts';

/** The order that is asked for; nulls come last in both (Decision 81). */
export function compareInOrder(order: 'asc' | 'desc', left: Value, right: Value): number {
  if (left === null || right === null) return Number(left === null) - Number(right === null);
  return order === 'asc' ? compareValues(left, right) : compareValues(right, left);
}
