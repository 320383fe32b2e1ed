import type { Arithmetic, Fold, RowExpression, ValueType } from './expression.ts';

/** One page of the rows that a plan computes from groups. */
export interface GroupPage {
  readonly plan: AggregationPlan;
  readonly limit: number;
  readonly page: number;
}

/** One column of the answer: its name, expression and output format. */
export interface PlannedColumn {
  readonly name: string;
  readonly value: GroupExpression;
  readonly shape: Shape;
}

/**
 * Aggregation in two stages: back ends compute `keys` and `folds`, then the server computes `columns` from the merged
 * groups.
 */
export interface AggregationPlan {
  readonly keys: readonly RowExpression[];
  readonly folds: readonly Fold[];
  readonly columns: readonly PlannedColumn[];
  /** Sort order of groups, with their keys as tie-breaker. A null `by` sorts by the keys alone. */
  readonly sort: { readonly by: GroupExpression | null; readonly order: 'asc' | 'desc' };
}

/** Expression over a merged group. `index` is the position of a key or fold in the plan. */
export type GroupExpression =
  | { readonly kind: 'key' | 'fold'; readonly index: number }
  /** Number of values in a `distinct` fold. */
  | { readonly kind: 'size'; readonly index: number }
  | { readonly kind: 'literal'; readonly value: bigint | number }
  | Arithmetic<GroupExpression>;

/** Type of an expression's value and its output format; a `moment` is a time written as ISO 8601 text. */
export interface Shape {
  readonly type: ValueType | 'moment';
  /** True when integers become JSON numbers, as in number fields; false when they become decimal text. */
  readonly isNumber: boolean;
}
