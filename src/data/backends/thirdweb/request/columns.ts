import type { Entity } from '../../port/insights-backend.ts';

/** Columns of the original's tables that have another name than the record's field. Source: its `field_validation.go`. */
const COLUMNS: Readonly<Record<Entity, Readonly<Record<string, string>>>> = {
  blocks: { block_hash: 'hash' },
  transactions: {},
  events: {},
};

/** What upstream calls a field where it filters, sorts and groups. */
export function columnOf(entity: Entity, field: string): string {
  const columns = COLUMNS[entity];
  return (Object.hasOwn(columns, field) ? columns[field] : undefined) ?? field;
}
