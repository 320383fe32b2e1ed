import type { Tables } from 'knex/types/tables.js';
import type { Handle } from '../../db/open.ts';
import type { IdempotencyRow } from '../tables/organization-tables.ts';
import { select } from '../tables/select.ts';
import type { SessionRow } from '../tables/session-tables.ts';
import { SealError, type SealedCell, type Seals } from './sealed.ts';

const CANARY = 'This key opens what is in this database.';

/** Keys that a database needs, by their ids in `seals()`. */
export function secretKeyStore(handle: Handle) {
  return {
    /** Records the current key. */
    async add({ keyIds: [id], seal }: Seals): Promise<void> {
      await handle('secret_keys')
        .insert({ id, canary: seal(CANARY, cellOf(id)) })
        .onConflict('id')
        .ignore();
    },

    async remove(id: string): Promise<void> {
      await handle('secret_keys').where({ id }).delete();
    },

    /** Ids of the recorded keys whose canary does not open. */
    async unknownTo({ open }: Seals): Promise<string[]> {
      const rows = await select({ from: 'secret_keys', columns: ['id', 'canary'] }).rows(
        handle,
        'order by id',
      );
      return rows.filter(({ id, canary }) => !opens(() => open(canary, cellOf(id)))).map(({ id }) => id);
    },

    /** Ids of all recorded keys. If there are none, reads the sealed values themselves. */
    async needed(): Promise<string[]> {
      const rows = await select({ from: 'secret_keys', columns: ['id'] }).rows(handle, 'order by id');
      return rows.length > 0 ? rows.map(({ id }) => id) : used(handle);
    },

    /** Ids of all keys that values are sealed with. Reads every sealed value. */
    used: () => used(handle),
  };
}

async function used(handle: Handle): Promise<string[]> {
  const ids = new Set<string>();
  for (const { table: from, column } of SEALED_COLUMNS) {
    // A sealed value is v1.<key id>.<body>.
    const rows = await select({
      isDistinct: true,
      computed: { id: ['text', `substr(${column}, 4, 8)`] },
    }).rows(handle, `from ${from} where ${column} like 'v1.________.%'`);
    for (const { id } of rows) ids.add(id);
  }
  return [...ids].sort();
}

function opens(open: () => string): boolean {
  try {
    return open() === CANARY;
  } catch (error) {
    if (error instanceof SealError) return false;
    throw error;
  }
}

function cellOf(id: string): SealedCell {
  return { table: 'secret_keys', column: 'canary', id };
}

/** A column of sealed values and the primary key of its table. */
export interface SealedColumn {
  readonly table: keyof Tables;
  readonly column: string;
  readonly key: readonly (keyof SealedKey)[];
}

/** Columns of the primary keys of tables with sealed values. */
export type SealedKey = Pick<SessionRow, 'id'> & Pick<IdempotencyRow, 'organization_id' | 'mode' | 'key'>;

/** All columns with sealed values in the payments schema. Exactly these have names that begin with `sealed_`. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: 'webhooks', column: 'sealed_secret', key: ['id'] },
  { table: 'webhooks', column: 'sealed_previous_secret', key: ['id'] },
  { table: 'checkout_sessions', column: 'sealed_customer', key: ['id'] },
  { table: 'customers', column: 'sealed_contact', key: ['id'] },
  { table: 'events', column: 'sealed_data', key: ['id'] },
  { table: 'deliveries', column: 'sealed_body', key: ['id'] },
  { table: 'delivery_attempts', column: 'sealed_response', key: ['id'] },
  { table: 'notices', column: 'sealed_payload', key: ['id'] },
  { table: 'idempotency_keys', column: 'sealed_body', key: ['organization_id', 'mode', 'key'] },
];

/**
 * The cell of a row. A key of several columns is written as JSON: joined with a separator, two keys could give the same
 * text.
 */
export function sealedCell({ table, column }: SealedColumn, key: readonly string[]): SealedCell {
  const [id = ''] = key;
  return { table, column, id: key.length === 1 ? id : JSON.stringify(key) };
}
