import type { Fold, RowExpression } from '#lib/expression.ts';
import type { GroupsQuery } from '../port/insights-backend.ts';
import { type UpstreamExpression, written, writtenFold } from './group-expressions.ts';
import { columnOf } from './selection.ts';
import type { Parameters } from './source.ts';

/** Something that comes back in every row, under a name of upstream's or ours. */
export interface GroupColumn extends UpstreamExpression {
  readonly name: string;
}

/** A query as upstream is asked for it. */
export interface GroupRequest {
  /** What rows are grouped by: the query's keys, then the values of which the different ones are wanted. */
  readonly keys: readonly GroupColumn[];
  /** For each fold where it is: in a column of its own, or, for the different values, among the keys. */
  readonly folds: readonly GroupColumn[];
  /** Rows of a group. */
  readonly count: GroupColumn;
  /** Without the page. */
  readonly parameters: Parameters;
}

const COUNT: GroupColumn = { name: 'n', text: 'count()', type: 'integer' };

/**
 * Writes a query. Upstream has no lists of different values, but groups by them as well, so that they are the keys of
 * smaller groups. Chains are kept apart, so that no group comes twice.
 * @throws BackendError `unsupported`
 */
export function groupRequest({ entity, keys, folds }: GroupsQuery, isOneChain: boolean): GroupRequest {
  const key = (expression: RowExpression, alias: string): GroupColumn => {
    const of = written(entity, expression);
    return { ...of, name: expression.kind === 'field' ? columnOf(entity, expression.name) : alias };
  };
  const fold = (one: Fold, index: number): GroupColumn =>
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
      // Without any order pages repeat rows.
      ...(first === undefined
        ? []
        : ([
            ['sort_by', first],
            ['sort_order', 'asc'],
          ] as const)),
    ],
  };
}
