import type { Sql } from '../../db/query.ts';
import type { Owner } from '../model/owner.ts';

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
