import type { Entity } from '../../port/insights.ts';
import { canonical } from './canonical.ts';
import type { Item } from './parse.ts';
import { columnNamed, type TypedRow } from './row-expression.ts';
import { invalidAt, quoted } from './source.ts';

const MAX_ALIAS = 63;
const WORDS = ['as', 'distinct'];

/**
 * Checks the alias of an item, if it has one. It must not be the name of a field, unless it stands for that field:
 * otherwise the name would mean two things in `group_by` and `sort_by`.
 * @throws InvalidParameter
 */
export function checkAlias(entity: Entity, item: Item, row: TypedRow | null): void {
  if (item.alias === undefined) return;
  const { name, offset } = item.alias;
  const refuse = (rule: string) => invalidAt(item.source, offset, `the alias ${quoted(name)} ${rule}`);
  if (name.length > MAX_ALIAS) throw refuse(`is longer than ${MAX_ALIAS} characters`);
  if (name.startsWith('_')) throw refuse('does not begin with a letter');
  if (WORDS.includes(name.toLowerCase())) throw refuse('is a word of the grammar');
  const column = columnNamed(entity, name);
  if (column === undefined) return;
  if (row === null || canonical(row.expression) !== canonical(column.expression)) {
    throw refuse('is the name of a field');
  }
}
