import type pg from 'pg';
import type { StatementSource } from './statement-sources.ts';

/** A result column of a statement, with its type if known. */
export interface ResultColumn {
  readonly name: string;
  readonly type: string | null | undefined;
}

/** JavaScript types of the values of a column type. */
const KINDS: Readonly<Record<string, string>> = {
  text: 'string',
  'character varying': 'string',
  bigint: 'number',
  integer: 'number',
  boolean: 'boolean',
  bytea: 'Buffer',
  numeric: 'string',
  INTEGER: 'number',
  TEXT: 'string',
  BLOB: 'Buffer',
};

/** Faults of a statement's result columns against its row type. */
export function faultsOf({ place, columns }: StatementSource, given: readonly ResultColumn[]): string[] {
  return columns.flatMap(({ name, kinds }) => {
    const type = given.find(column => column.name === name)?.type;
    if (typeof type !== 'string') return [`${place} gives no column ${name}`];
    return kinds.includes(KINDS[type] ?? type)
      ? []
      : [`${place} gives ${name} as ${type}, not as ${kinds.join(' | ')}`];
  });
}

/** Reads the types of the columns of statements on PostgreSQL. */
export function typesOn(client: pg.Client): (sql: string) => Promise<string[]> {
  return async sql => {
    let place = 0;
    await client.query(`prepare one as ${sql.replaceAll('?', () => `$${++place}`)}`);
    const { rows } = await client.query('select result_types::text[] as types from pg_prepared_statements');
    await client.query('deallocate one');
    return rows[0].types ?? [];
  };
}
