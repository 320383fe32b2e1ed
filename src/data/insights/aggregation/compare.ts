import type { Value } from '#lib/expression.ts';

/** Rising order of two values that are not null: numbers by amount, all else by its text. */
export function compareValues(left: Value, right: Value): number {
  if (typeof left === 'string' && typeof right === 'string') return compared(left, right);
  if (isNumber(left) && isNumber(right)) return compared(left, right);
  return compared(String(left), String(right));
}

/** The order that is asked for; nulls come last in both (Decision 81). */
export function compareInOrder(order: 'asc' | 'desc', left: Value, right: Value): number {
  if (left === null || right === null) return Number(left === null) - Number(right === null);
  return order === 'asc' ? compareValues(left, right) : compareValues(right, left);
}

function compared<T extends string | number | bigint>(left: T, right: T): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function isNumber(value: Value): value is bigint | number {
  return typeof value === 'bigint' || typeof value === 'number';
}
