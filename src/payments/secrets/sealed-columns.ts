import type { Cell } from './sealed.ts';

/** A column of sealed values, and the primary key of its table. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  readonly key: readonly [string, ...string[]];
}

/** Every column of the payments schema that holds sealed values. Their names, and no others, begin with `sealed_`. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: 'webhooks', column: 'sealed_secret', key: ['id'] },
  { table: 'webhooks', column: 'sealed_previous_secret', key: ['id'] },
  { table: 'checkout_sessions', column: 'sealed_customer', key: ['id'] },
  { table: 'events', column: 'sealed_data', key: ['id'] },
  { table: 'deliveries', column: 'sealed_body', key: ['id'] },
  { table: 'notices', column: 'sealed_payload', key: ['id'] },
  { table: 'idempotency_keys', column: 'sealed_body', key: ['organization_id', 'mode', 'key'] },
];

/** The cell of a row. A key of several columns is written as JSON: joined, two of them could read the same. */
export function sealedCell({ table, column }: SealedColumn, key: readonly string[]): Cell {
  const [id = ''] = key;
  return { table, column, id: key.length === 1 ? id : JSON.stringify(key) };
}
