import type { Columns } from '../columns.ts';
import type { Dialect } from '../dialect.ts';
import { typeOf } from '../rows.ts';
import type { ComputedColumns } from './selected-row.ts';

/** Parts of a `select` up to its conditions. */
export interface SelectParts {
  /** Text before the `select`. */
  readonly with?: string;
  /** Table, and its alias if there is one. */
  readonly from?: string;
  /** Tables that SQLite reads in this order, each with its alias and condition. */
  readonly join?: readonly string[];
  readonly leftJoin?: readonly string[];
  /** Names of the indexes that SQLite must use, by the aliases of their tables. */
  readonly indexedBy?: Readonly<Record<string, string>>;
  readonly isDistinct?: boolean;
  readonly columns?: readonly string[];
  /** Columns whose bytes the database writes as `0x…`. */
  readonly hex?: readonly string[];
  readonly computed?: ComputedColumns;
}

/** Types of the columns of tables. Needed only to write columns as hex. */
export type DescribedTables = Readonly<
  Record<string, { readonly columns: Columns; readonly computed?: Columns }>
>;

/** Writes a `select` with its list and tables. Conditions follow. */
export function selectSql(parts: SelectParts, dialect: Dialect, described: DescribedTables = {}): string {
  const { with: before = '', from, join = [], leftJoin = [], indexedBy } = parts;
  const indexed = (text: string) => (indexedBy === undefined ? text : withIndex(text, indexedBy, dialect));
  let sql = before === '' ? 'select ' : `${before} select `;
  if (parts.isDistinct === true) sql += 'distinct ';
  sql += listSql(parts, dialect, described);
  if (from !== undefined) sql += ` from ${indexed(from)}`;
  for (const text of join) sql += ` ${dialect.nestedJoin} ${indexed(text)}`;
  for (const text of leftJoin) sql += ` left join ${text}`;
  return sql;
}

/** Writes a select list. */
export function listSql(parts: SelectParts, dialect: Dialect, described: DescribedTables = {}): string {
  return listOf(parts, dialect, described).join(', ');
}

function listOf(parts: SelectParts, dialect: Dialect, described: DescribedTables): readonly string[] {
  const { from, join = [], leftJoin = [], columns = [], hex, computed } = parts;
  if (hex === undefined && computed === undefined) return columns;
  const list = [...columns];
  if (hex !== undefined) {
    const all = [...(from === undefined ? [] : [from]), ...join, ...leftJoin];
    const tables = new Map(
      all.map(text => {
        const [name = '', alias = name] = text.split(' ');
        return [alias, name];
      }),
    );
    for (const item of hex) list.push(...hexColumns(item, { tables, described, dialect }));
  }
  for (const [name, [type, sql]] of Object.entries(computed ?? {}))
    list.push(`${type.startsWith('hex') ? dialect.hex(sql) : sql} as ${name}`);
  return list;
}

/** A table with the index that SQLite must use for it. */
function withIndex(text: string, indexes: Readonly<Record<string, string>>, dialect: Dialect): string {
  const [table = '', alias = table] = text.split(' on ', 1).join('').split(' ');
  const index = indexes[alias];
  if (index === undefined) return text;
  const named = alias === table ? table : `${table} ${alias}`;
  return `${named}${dialect.indexedBy(index)}${text.slice(named.length)}`;
}

interface HexReading {
  /** Names of tables by their aliases, that of `from` first. */
  readonly tables: ReadonlyMap<string, string>;
  readonly described: DescribedTables;
  readonly dialect: Dialect;
}

/** Columns of an item, bytes as hex. */
function hexColumns(item: string, { tables, described, dialect }: HexReading): string[] {
  const [column = '', name] = item.split(' as ');
  const [alias, field = ''] = column.includes('.') ? column.split('.') : [undefined, column];
  const [first = ''] = tables.values();
  const table = described[alias === undefined ? first : (tables.get(alias) ?? '')];
  if (table === undefined) throw new Error(`The types of the columns of ${item} are not known.`);
  const types: Columns = { ...table.columns, ...table.computed };
  const prefix = alias === undefined ? '' : `${alias}.`;
  const names = field === '*' ? Object.keys(types) : [field];
  return names.map(one => {
    const type = types[one];
    const isBytes = type !== undefined && typeOf(type) === 'bytes';
    const read = `${prefix}${one}`;
    if (isBytes) return `${dialect.hex(read)} as ${name ?? one}`;
    return name === undefined ? read : `${read} as ${name}`;
  });
}
