import { isObject } from '#lib/json.ts';
import type { Fields } from '../../upstream-json/fields.ts';

/**
 * The rows of `aggregations` in either of its shapes: a list with one object a group, or an object, or a list with one
 * object a chain, whose numbered members are the groups and whose other members are the same for all of them.
 * Source: the original's Go service; clients of the hosted one.
 */
export function aggregationRows(aggregations: unknown): Fields[] {
  if (Array.isArray(aggregations)) return aggregations.flatMap(aggregationRows);
  if (!isObject(aggregations)) return [];
  const members = Object.entries(aggregations);
  const groups = members.filter(([, member]) => isObject(member));
  if (groups.length === 0) return members.length === 0 ? [] : [aggregations];
  const shared = Object.fromEntries(members.filter(([name, member]) => !isObject(member) && !isPlace(name)));
  return groups.flatMap(([, group]) => aggregationRows(group)).map(row => ({ ...shared, ...row }));
}

function isPlace(name: string): boolean {
  return /^\d+$/.test(name);
}
