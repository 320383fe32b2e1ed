import type { RowExpression } from '#lib/expression.ts';
import type { Entity } from '../../backends/port/insights-backend.ts';
import { checkAlias } from './aliases.ts';
import { canonical } from './canonical.ts';
import { invalidAt, quoted } from './expression-source.ts';
import type { Item, Node } from './parse.ts';
import { isAggregate, rowOf, type TypedRow } from './row-expression.ts';

/** What rows are grouped by, and its name in the answer. */
export interface Key {
  readonly name: string;
  readonly row: TypedRow;
}

/**
 * The keys that `group_by` names: fields, expressions over them, and aliases that `aggregate` gives to such.
 * A key that is named twice in the same way is one.
 * @throws InvalidParameter
 */
export function groupKeys(entity: Entity, groups: readonly Item[], items: readonly Item[]): Key[] {
  const keys: Key[] = [];
  const named: { item: Item; row: TypedRow }[] = [];
  for (const group of groups) {
    const key = keyOf(entity, group, items);
    named.push({ item: group, row: key.row });
    const same = keys.find(({ name }) => name === key.name);
    if (same === undefined) keys.push(key);
    else if (canonical(same.row.expression) !== canonical(key.row.expression)) {
      throw invalidAt(group.source, group.offset, `the name ${quoted(key.name)} is used twice`);
    }
  }
  const rows = keys.map(({ row }) => row);
  for (const one of named) checkAlias(entity, one, { groups, rows });
  return keys;
}

function keyOf(entity: Entity, group: Item, items: readonly Item[]): Key {
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
