import { canonicalJson } from '#lib/json.ts';
import type { RowExpression } from '#query-model/expression.ts';
import type { Entity } from '#query-model/row-selection.ts';
import { invalidAt, quoted } from './expression-source.ts';
import type { ListedExpression, Node } from './parse.ts';
import { columnNamed, isAggregate, rowOf, type TypedRow } from './row-expression.ts';

/** Key of a grouping, with its name in the answer. */
export interface Key {
  readonly name: string;
  readonly row: TypedRow;
}

/**
 * Keys of `group_by`: fields, expressions over fields, and aliases that `aggregate` defines for such expressions.
 * Duplicates become one key.
 * @throws InvalidParameter for an aggregate, an expression without a field, or one name for two keys.
 */
export function groupKeys(
  entity: Entity,
  groups: readonly ListedExpression[],
  items: readonly ListedExpression[],
): Key[] {
  const keys: Key[] = [];
  const named: { item: ListedExpression; row: TypedRow }[] = [];
  for (const group of groups) {
    const key = keyOf(entity, group, items);
    named.push({ item: group, row: key.row });
    const same = keys.find(({ name }) => name === key.name);
    if (same === undefined) keys.push(key);
    else if (canonicalJson(same.row.expression) !== canonicalJson(key.row.expression)) {
      throw invalidAt(group.source, group.offset, `the name ${quoted(key.name)} is used twice`);
    }
  }
  const rows = keys.map(({ row }) => row);
  for (const one of named) checkAlias(entity, one, { groups, rows });
  return keys;
}

function keyOf(entity: Entity, group: ListedExpression, items: readonly ListedExpression[]): Key {
  const { node, source, offset } = group;
  const aliased = node.kind === 'name' && items.find(({ alias }) => alias?.name === node.name);
  const name = group.alias?.name ?? group.text;
  if (aliased) {
    if (hasAggregate(aliased.node)) throw invalidAt(source, offset, `${quoted(node.name)} is an aggregate`);
    const row = rowOf(entity, aliased.source, aliased.node);
    return { name, row };
  }
  const row = rowOf(entity, source, node);
  if (!hasField(row.expression))
    throw invalidAt(source, offset, `${quoted(group.text)} has no field to group by`);
  return { name, row };
}

export function hasAggregate(node: Node): boolean {
  if (node.kind === 'binary') return hasAggregate(node.left) || hasAggregate(node.right);
  return node.kind === 'call' && (isAggregate(node) || node.args.some(hasAggregate));
}

function hasField(expression: RowExpression): boolean {
  switch (expression.kind) {
    case 'field':
      return true;
    case 'literal':
      return false;
    case 'arithmetic':
      return hasField(expression.left) || hasField(expression.right);
    default:
      return hasField(expression.of);
  }
}

const MAX_ALIAS = 63;
const WORDS = ['as', 'distinct'];

/**
 * Checks the alias of an item, if any. It may equal the name of another field unless `group_by` uses that field: then
 * the name would mean two things in `group_by` and `sort_by`.
 * @throws InvalidParameter for an alias that is not allowed.
 */
export function checkAlias(
  entity: Entity,
  { item, row }: { item: ListedExpression; row: TypedRow | null },
  { groups, rows }: { groups: readonly ListedExpression[]; rows: readonly TypedRow[] },
): void {
  if (item.alias === undefined) return;
  const { name, offset } = item.alias;
  const refuse = (rule: string) => invalidAt(item.source, offset, `the alias ${quoted(name)} ${rule}`);
  if (name.length > MAX_ALIAS) throw refuse(`is longer than ${MAX_ALIAS} characters`);
  if (name.startsWith('_')) throw refuse('does not begin with a letter');
  if (WORDS.includes(name.toLowerCase())) throw refuse('is a word of the grammar');
  const column = columnNamed(entity, name);
  if (column === undefined) return;
  const isColumn = (one: TypedRow) => canonicalJson(one.expression) === canonicalJson(column.expression);
  if (row !== null && isColumn(row)) return;
  const isNamed = groups.some(({ node }) => node.kind === 'name' && node.name === name);
  if (isNamed || rows.some(isColumn)) throw refuse('is the name of a field that is grouped by');
}
