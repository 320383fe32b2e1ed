import type { AggregationPlan, GroupExpression, Shape } from './aggregation-plan.ts';
import { type ArithmeticOperator, type Group, isNumber, type Value } from './expression.ts';
import { compareValues, type MergedGroup, mergeGroups, single, sizeOf } from './merge-groups.ts';

/** One group in the answer: the contract's `AggregationRow`. */
type AggregationRow = Record<string, string | number | boolean | null>;

/**
 * Computes a page of the answer from the groups of each chain or back end. No list may hold a group twice. Groups are
 * merged before the page is cut, and `total` counts merged groups.
 */
export function answerOf(
  plan: AggregationPlan,
  lists: readonly (readonly Group[])[],
  { limit, page }: { readonly limit: number; readonly page: number },
): { rows: AggregationRow[]; total: number } {
  const groups = mergeGroups(plan, lists);
  const { by, order } = plan.sort;
  const sortable = groups.map(group => ({ group, value: by === null ? null : finished(by, group) }));
  const upToPage = firstInOrder(
    sortable,
    (page + 1) * limit,
    (left, right) =>
      compareInOrder(order, left.value, right.value) || compareKeys(order, left.group, right.group),
  );
  return {
    rows: upToPage.slice(page * limit).map(({ group }) => rowOf(plan, group)),
    total: groups.length,
  };
}

function rowOf({ columns }: AggregationPlan, group: MergedGroup): AggregationRow {
  return Object.fromEntries(
    columns.map(({ name, value, shape }) => [name, written(finished(value, group), shape)]),
  );
}

function finished(value: GroupExpression, group: MergedGroup): Value {
  switch (value.kind) {
    case 'literal':
      return value.value;
    case 'key':
      return group.keys[value.index] ?? null;
    case 'fold':
      return single(group.folds[value.index]);
    case 'size':
      return sizeOf(group.folds[value.index]);
    case 'arithmetic':
      return compute(value.operator, finished(value.left, group), finished(value.right, group));
  }
}

function compareKeys(order: 'asc' | 'desc', left: MergedGroup, right: MergedGroup): number {
  for (const [index, key] of left.keys.entries()) {
    const difference = compareInOrder(order, key, right.keys[index] ?? null);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Compares in the requested order. Nulls sort last in both orders (Decision 81). */
function compareInOrder(order: 'asc' | 'desc', left: Value, right: Value): number {
  if (left === null || right === null) return Number(left === null) - Number(right === null);
  return order === 'asc' ? compareValues(left, right) : compareValues(right, left);
}

/** Minimum number of items to keep, because trimming shorter lists saves nothing. */
const LEAST_KEPT = 1_000;

/** The first `count` items in an order, without sorting all the others. */
function firstInOrder<T>(items: readonly T[], count: number, compare: (a: T, b: T) => number): T[] {
  const most = Math.max(count, LEAST_KEPT);
  let kept: T[] = [];
  let last: T | undefined;
  for (const item of items) {
    if (last !== undefined && compare(item, last) > 0) continue;
    kept.push(item);
    if (kept.length >= 2 * most) {
      kept = kept.sort(compare).slice(0, most);
      last = kept.at(-1);
    }
  }
  return kept.sort(compare).slice(0, count);
}

/**
 * Computes `left operator right`. The result is exact for two integers, except that division may give a fraction. Null
 * when an operand is null or not a number, on division by zero, and when the result is not finite.
 */
function compute(operator: ArithmeticOperator, left: Value, right: Value): bigint | number | null {
  if (typeof left === 'bigint' && typeof right === 'bigint') {
    return operator === '/' ? quotient(Number(left), Number(right)) : exact(operator, left, right);
  }
  if (!isNumber(left) || !isNumber(right)) return null;
  const [a, b] = [Number(left), Number(right)];
  switch (operator) {
    case '+':
      return finite(a + b);
    case '-':
      return finite(a - b);
    case '*':
      return finite(a * b);
    case '/':
      return quotient(a, b);
    case '%':
      return finite(a % b);
  }
}

/** The sign of a remainder is that of the dividend. */
function exact(operator: Exclude<ArithmeticOperator, '/'>, left: bigint, right: bigint): bigint | null {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '%':
      return right === 0n ? null : left % right;
  }
}

function quotient(left: number, right: number): number | null {
  return right === 0 ? null : finite(left / right);
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);
/** The last millisecond of a JavaScript date. */
const MAX_DATE_MS = 8_640_000_000_000_000n;

/**
 * Converts a value to JSON (Decision 82). Integers of number fields are numbers up to 2^53 - 1 and decimal text beyond.
 * Other integers are always text. Fractions are numbers. The start of a time bucket is ISO 8601 text.
 */
export function written(value: Value, { type, isNumber }: Shape): string | number | boolean | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'bigint') return value;
  if (type === 'real') return Number(value);
  if (type === 'moment') return momentText(value);
  return isNumber && value <= MAX_SAFE && value >= -MAX_SAFE ? Number(value) : String(value);
}

function momentText(seconds: bigint): string {
  const ms = seconds * 1000n;
  // Out of range only when a broken node reports such a time.
  if (ms > MAX_DATE_MS || ms < -MAX_DATE_MS) return String(seconds);
  return new Date(Number(ms)).toISOString();
}
