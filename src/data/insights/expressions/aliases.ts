import type { Entity } from '../../backends/port/insights-backend.ts';
import { canonical } from './canonical.ts';
import { invalidAt, quoted } from './expression-source.ts';
import type { Item } from './parse.ts';
import { columnNamed, type TypedRow } from './row-expression.ts';

const MAX_ALIAS = 63;
const WORDS = ['as', 'distinct'];

/**
 * Checks the alias of an item, if it has one. It may be the name of another field unless `group_by` names or groups by
 * that field: then the name would mean two things in `group_by` and `sort_by`.
 * @throws InvalidParameter
 */
export function checkAlias(
  entity: Entity,
  { item, row }: { item: Item; row: TypedRow | null },
  { groups, rows }: { groups: readonly Item[]; rows: readonly TypedRow[] },
): void {
  if (item.alias === undefined) return;
  const { name, offset } = item.alias;
  const refuse = (rule: string) => invalidAt(item.source, offset, `the alias ${quoted(name)} ${rule}`);
  if (name.length > MAX_ALIAS) throw refuse(`is longer than ${MAX_ALIAS} characters`);
  if (name.startsWith('_')) throw refuse('does not begin with a letter');
  if (WORDS.includes(name.toLowerCase())) throw refuse('is a word of the grammar');
  const column = columnNamed(entity, name);
  if (column === undefined) return;
  const isColumn = (one: TypedRow) => canonical(one.expression) === canonical(column.expression);
  if (row !== null && isColumn(row)) return;
  const isNamed = groups.some(({ node }) => node.kind === 'name' && node.name === name);
  if (isNamed || rows.some(isColumn)) throw refuse('is the name of a field that is grouped by');
}
