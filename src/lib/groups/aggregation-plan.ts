import type { Arithmetic, Fold, RowExpression, ValueType } from './expression.ts';

/** One page of the rows that a plan makes of groups. */
export interface GroupPage {
  readonly plan: AggregationPlan;
  readonly limit: number;
  readonly page: number;
}

/** One name of the rows that are answered, and what stands there. */
export interface PlannedColumn {
  readonly name: string;
  readonly value: GroupExpression;
  readonly shape: Shape;
}

/** What back ends are asked (`keys`, `folds`), and what is made of their groups afterwards. */
export interface AggregationPlan {
  readonly keys: readonly RowExpression[];
  readonly folds: readonly Fold[];
  readonly columns: readonly PlannedColumn[];
  /** Groups are in this order, then in that of their keys; null when they only have that of their keys. */
  readonly sort: { readonly by: GroupExpression | null; readonly order: 'asc' | 'desc' };
}

/** What is worked out of a merged group: from its keys and folds, both by their place in the plan. */
export type GroupExpression =
  | { readonly kind: 'key' | 'fold'; readonly index: number }
  /** How many values a `distinct` has. */
  | { readonly kind: 'size'; readonly index: number }
  | { readonly kind: 'literal'; readonly value: bigint | number }
  | Arithmetic<GroupExpression>;

/** What kind of value an expression has, and how it is written; `moment` is a time written as text. */
export interface Shape {
  readonly type: ValueType | 'moment';
  /** Whether exact integers are JSON numbers, as those of number fields are; else they are decimal text. */
  readonly isNumber: boolean;
}
