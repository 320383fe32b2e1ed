import { InvalidParameter } from '#contract/contracts/violations.ts';
import { canonicalJson } from '#lib/json.ts';
import type { AggregationPlan, GroupExpression, PlannedColumn } from '#query-model/aggregation-plan.ts';
import type { Entity } from '#query-model/row-selection.ts';
import { type ExpressionSource, invalidAt, quoted, sourcesOf } from './expression-source.ts';
import { groupCompiler, readsRows, type TypedGroupExpression } from './group-expression.ts';
import { checkAlias, groupKeys, type Key } from './group-keys.ts';
import { type ListedExpression, parse } from './parse.ts';
import { columnNamed } from './row-expression.ts';

/** Aggregation parameters as given by the request. */
export interface Aggregation {
  readonly aggregate?: readonly string[] | undefined;
  readonly group_by?: readonly string[] | undefined;
  readonly sort_by?: string | undefined;
  /** Descending by default (Decision 81). */
  readonly sort_order?: 'asc' | 'desc' | undefined;
}

const MAX_ITEMS = 16;
const MAX_KEYS = 8;

/** Checks an aggregation and plans its answer (Decisions 81 to 83). @throws InvalidParameter */
export function planOf(entity: Entity, asked: Aggregation): AggregationPlan {
  const items = itemsOf('aggregate', asked.aggregate ?? []);
  const groups = itemsOf('group_by', asked.group_by ?? []);
  const keys = groupKeys(entity, groups, items);
  const rows = keys.map(({ row }) => row);
  const { folds, finish } = groupCompiler(entity, rows);
  const named = namesOf(keys);
  const expressions = new Map<string, GroupExpression>();

  for (const item of items.length > 0 ? items : countOnly()) {
    const finished = finish(item.source, item.node);
    if (!readsRows(finished.value)) {
      throw invalidAt(item.source, item.offset, `${quoted(item.text)} has nothing to aggregate`);
    }
    expressions.set(withoutBlanks(item.text), finished.value);
    checkAlias(entity, { item, row: finished.row }, { groups, rows });
    add(named, item, finished);
  }
  return {
    keys: keys.map(({ row }) => row.expression),
    folds,
    columns: [...named.values()],
    sort: {
      by: asked.sort_by === undefined ? null : sortedBy(entity, asked.sort_by, { keys, named, expressions }),
      order: asked.sort_order ?? 'desc',
    },
  };
}

/** Grouping without `aggregate` counts the rows of each group (Decision 82). */
function countOnly(): ListedExpression[] {
  return parse({ parameter: 'aggregate', text: 'count() as count' });
}

function itemsOf(parameter: ExpressionSource['parameter'], values: readonly string[]): ListedExpression[] {
  const most = parameter === 'aggregate' ? MAX_ITEMS : MAX_KEYS;
  if (values.length > most) throw new InvalidParameter(parameter, `must have at most ${most} expressions`);
  const items = sourcesOf(parameter, values).flatMap(source => parse(source));
  const over = items[most];
  if (over !== undefined) throw invalidAt(over.source, over.offset, `more than ${most} expressions`);
  return items;
}

function namesOf(keys: readonly Key[]): Map<string, PlannedColumn> {
  return new Map(
    keys.map(({ name, row }, index) => [name, { name, value: { kind: 'key', index }, shape: row.shape }]),
  );
}

/** Adds a column. The same expression twice is one column; two expressions with one name are an error. */
function add(
  named: Map<string, PlannedColumn>,
  item: ListedExpression,
  { value, shape }: TypedGroupExpression,
): void {
  const name = item.alias?.name ?? item.text;
  const before = named.get(name);
  if (before === undefined) named.set(name, { name, value, shape });
  else if (canonicalJson(before.value) !== canonicalJson(value)) {
    const offset = item.alias?.offset ?? item.offset;
    throw invalidAt(item.source, offset, `the name ${quoted(name)} is used twice`);
  }
}

function sortedBy(
  entity: Entity,
  asked: string,
  given: {
    readonly keys: readonly Key[];
    readonly named: ReadonlyMap<string, PlannedColumn>;
    readonly expressions: ReadonlyMap<string, GroupExpression>;
  },
): GroupExpression {
  const name = asked.trim();
  const found = given.named.get(name)?.value ?? given.expressions.get(withoutBlanks(name));
  if (found !== undefined) return found;
  const column = columnNamed(entity, name);
  if (column !== undefined) {
    const wanted = canonicalJson(column.expression);
    const index = given.keys.findIndex(({ row }) => canonicalJson(row.expression) === wanted);
    if (index >= 0) return { kind: 'key', index };
  }
  throw new InvalidParameter(
    'sort_by',
    `${quoted(name)} at position 1 is neither an alias or expression of aggregate nor grouped by`,
  );
}

function withoutBlanks(text: string): string {
  return text.replaceAll(/\s+/g, '');
}
