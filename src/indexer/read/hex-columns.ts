import type { Hex } from 'viem';
import type { Columns } from '../../db/columns.ts';
import type { Dialect } from '../../db/dialect.ts';

/**
 * A row whose bytes columns are lower-case `0x…` text. The database writes hex faster than a Buffer can be created and
 * converted.
 */
export type InHex<Row> = {
  [Name in keyof Row]: Row[Name] extends Buffer
    ? Hex
    : Row[Name] extends Buffer | null
      ? Hex | null
      : Row[Name];
};

/** Select list of a table with this alias, for rows of `InHex`. */
export function hexColumns(dialect: Dialect, columns: Columns, alias: string): string {
  return Object.entries(columns)
    .map(([name, type]) => {
      const column = `${alias}.${name}`;
      return type.startsWith('bytes') ? `${dialect.hex(column)} as ${name}` : column;
    })
    .join(', ');
}

/** Caches SQL that depends only on the dialect. */
export function perDialect(write: (dialect: Dialect) => string): (dialect: Dialect) => string {
  const written = new Map<Dialect, string>();
  return dialect => {
    const sql = written.get(dialect) ?? write(dialect);
    written.set(dialect, sql);
    return sql;
  };
}
