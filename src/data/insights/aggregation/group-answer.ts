import type { Group, Value } from '#lib/expression.ts';
import { compareValues, type MergedGroup, mergeGroups, single, sizeOf } from '#lib/merge-groups.ts';
import type { GroupExpression } from '../expressions/group-expression.ts';
import type { AggregationPlan } from '../expressions/plan.ts';
import { compute } from './compute.ts';
import { written } from './format-value.ts';

/** One group in the answer: the contract's `AggregationRow`. */
type AggregationRow = Record<string, string | number | boolean | null>;

/**
 * What a plan answers from the groups of every chain or back end that was asked, one list each, in which no group is
 * twice. Chains are merged before the page is cut; `total` counts merged groups.
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

/** The order that is asked for; nulls come last in both (Decision 81). */
function compareInOrder(order: 'asc' | 'desc', left: Value, right: Value): number {
  if (left === null || right === null) return Number(left === null) - Number(right === null);
  return order === 'asc' ? compareValues(left, right) : compareValues(right, left);
}

/** Fewer than this are not worth being picky about. */
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
