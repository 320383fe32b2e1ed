import type { Hex } from 'viem';
import type { Columns } from '../../db/columns.ts';
import type { Dialect } from '../../db/dialect.ts';

/** A row whose bytes are lower-case `0x…`. A database writes that in less time than it takes to make a Buffer and write it. */
export type InHex<Row> = {
  [Name in keyof Row]: Row[Name] extends Buffer
    ? Hex
    : Row[Name] extends Buffer | null
      ? Hex | null
      : Row[Name];
};

/** Columns of a table that is called `alias` in a `select`, for rows of `InHex`. */
export function hexColumns(dialect: Dialect, columns: Columns, alias: string): string {
  return Object.entries(columns)
    .map(([name, type]) => {
      const column = `${alias}.${name}`;
      return type.startsWith('bytes') ? `${dialect.hex(column)} as ${name}` : column;
    })
    .join(', ');
}

/** SQL that differs by database alone, written once for each. */
export function perDialect(write: (dialect: Dialect) => string): (dialect: Dialect) => string {
  const written = new Map<Dialect, string>();
  return dialect => {
    const sql = written.get(dialect) ?? write(dialect);
    written.set(dialect, sql);
    return sql;
  };
}
