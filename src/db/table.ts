import type { ColumnType } from './columns.ts';
import type { Dialect } from './dialect.ts';
import type { Statement } from './migrate.ts';

/** A column's type, alone or with what else SQL says of it: `['text', 'not null references links (id)']`. */
export type ColumnDescription = ColumnType | readonly [type: ColumnType, rest: string];

/**
 * `create table` for both databases from one description: columns by name, then constraints over several of them.
 * STRICT on SQLite; text compares by its bytes on both. Names are SQL, not input.
 */
export function table(
  name: string,
  columns: Readonly<Record<string, ColumnDescription>>,
  constraints: readonly string[] = [],
): Statement {
  return dialect => {
    const lines = Object.entries(columns).map(([column, description]) =>
      columnSql(dialect, column, description),
    );
    return `create table ${name} (\n  ${[...lines, ...constraints].join(',\n  ')}\n)${dialect.afterTable}`;
  };
}

/** `alter table … add column` for both databases. */
export function addColumn(name: string, column: string, description: ColumnDescription): Statement {
  return dialect => `alter table ${name} add column ${columnSql(dialect, column, description)}`;
}

function columnSql(dialect: Dialect, column: string, description: ColumnDescription): string {
  const [type, rest] = typeof description === 'string' ? [description, ''] : description;
  return `${column} ${dialect.columnType(type, column)} ${rest}`.trimEnd();
}
