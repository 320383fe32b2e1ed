import type { Binding } from '../../db/columns.ts';
import type { Sql } from '../../db/query.ts';
import type { Owner } from '../model/owner.ts';

/** The condition that a row is of an organization and mode. */
export function ownedBy({ organizationId, mode }: Owner): Sql {
  return { sql: 'organization_id = ? and mode = ?', bindings: [organizationId, mode] };
}

/** The condition that all of these hold; undefined ones are filters that were not asked for. */
export function allOf(conditions: readonly (Sql | undefined)[]): Sql {
  const asked = conditions.filter(condition => condition !== undefined);
  if (asked.length === 0) return { sql: '1 = 1', bindings: [] };
  return {
    sql: asked.map(({ sql }) => `(${sql})`).join(' and '),
    bindings: asked.flatMap(({ bindings }) => bindings),
  };
}

/** The condition on a value that may be a filter; undefined when the filter was not asked for. */
export function given(sql: string, value: Binding | undefined): Sql | undefined {
  return value === undefined ? undefined : { sql, bindings: [value] };
}

/** What `(organization_id, mode) in …` compares with: the owners of these records, each once. */
export function ownersOf(records: readonly Owner[]): Sql {
  const owners = new Map(
    records.map(({ organizationId, mode }) => [
      JSON.stringify([organizationId, mode]),
      [organizationId, mode],
    ]),
  );
  const values = Array.from(owners, () => '(?, ?)').join(', ');
  return { sql: `(values ${values})`, bindings: [...owners.values()].flat() };
}
