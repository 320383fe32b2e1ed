import type { Binding, Columns, ColumnType, ColumnValue, RowOf } from './columns.ts';
import type { Handle } from './open.ts';

/** Maximum parameters of a statement on SQLite (SQLITE_MAX_VARIABLE_NUMBER). */
const MAX_PARAMETERS = 32_000;

/**
 * Inserts rows given as arrays in the order of `columns`, many per statement. knex's builder takes several times as
 * long. `suffix` is for an `on conflict` clause.
 */
export async function insertRows(
  handle: Handle,
  into: { table: string; columns: readonly string[]; suffix?: string },
  rows: readonly (readonly Binding[])[],
): Promise<void> {
  if (rows.length === 0) return;
  const rowsPerStatement = Math.floor(MAX_PARAMETERS / into.columns.length);
  const one = `(${into.columns.map(() => '?').join(',')})`;
  for (let start = 0; start < rows.length; start += rowsPerStatement) {
    const part = rows.slice(start, start + rowsPerStatement);
    const values = part.map(() => one).join(',');
    const sql = `insert into ${into.table} (${into.columns.join(',')}) values ${values} ${into.suffix ?? ''}`;
    await handle.raw(sql, part.flat());
  }
}

/** Table, or some of its columns, with their types. `suffix` is for an `on conflict` clause. */
export interface TypedTable<Table extends Columns> {
  readonly table: string;
  readonly columns: Table;
  readonly suffix?: string;
}

/** Most rows of a statement on PostgreSQL. Its arrays are long texts, which the driver copies. */
const MAX_ROWS = 5_000;

/**
 * Inserts rows into typed columns. On PostgreSQL each column is bound as one array, so the statement stays short for
 * many rows.
 */
export async function insertTyped<Table extends Columns>(
  handle: Handle,
  { table, columns, suffix = '' }: TypedTable<Table>,
  rows: readonly Readonly<RowOf<Table>>[],
): Promise<void> {
  if (rows.length === 0) return;
  const named: readonly Readonly<Record<string, Binding>>[] = rows;
  const names = Object.keys(columns);
  if (handle.dialect.name === 'sqlite') {
    const values = named.map(row => names.map(name => columnOf(row[name] ?? null)));
    return insertRows(handle, { table, columns: names, suffix }, values);
  }
  const types = Object.values(columns).map(typeOf);
  const arrays = types.map(type => `?::${ARRAY_TYPES[type]}[]`).join(', ');
  const sql = `insert into ${table} (${names.join(', ')}) select * from unnest(${arrays}) ${suffix}`;
  for (let start = 0; start < named.length; start += MAX_ROWS) {
    const part = named.slice(start, start + MAX_ROWS);
    const values = names.map((name, index) => {
      const elements = part.map(row => elementOf(types[index], row[name] ?? null));
      return `{${elements.join(',')}}`;
    });
    await handle.raw(sql, values);
  }
}

/** PostgreSQL types of array elements. */
const ARRAY_TYPES: Readonly<Record<ColumnType, string>> = {
  text: 'text',
  json: 'text',
  uint256: 'text',
  numeric: 'numeric',
  bytes: 'bytea',
  count: 'bigint',
  int: 'integer',
  small: 'smallint',
  time: 'bigint',
  boolean: 'boolean',
};

/** Type of a column, whether it is nullable or not. */
export function typeOf(column: ColumnType | `${ColumnType}?`): ColumnType {
  for (const type of Object.keys(ARRAY_TYPES)) if (isType(type) && column.startsWith(type)) return type;
  throw new TypeError(`No column is of type ${column}.`);
}

function isType(name: string): name is ColumnType {
  return Object.hasOwn(ARRAY_TYPES, name);
}

function columnOf(value: Binding): ColumnValue {
  return typeof value === 'boolean' ? Number(value) : value;
}

/** Formats an element of an array literal for PostgreSQL, with amounts in plain digits. */
function elementOf(type: ColumnType | undefined, value: Binding): string {
  if (value === null) return 'NULL';
  if (Buffer.isBuffer(value)) return `"\\\\x${value.toString('hex')}"`;
  if (typeof value !== 'string') return String(value);
  return type === 'numeric' ? value.slice(2) : `"${value.replaceAll(/["\\]/g, '\\$&')}"`;
}

/** Returns `?,?,?` for an `in (…)` with `count` values. */
export function placeholders(count: number): string {
  return Array.from({ length: count }, () => '?').join(',');
}
