import { typeOf } from '../../db/rows.ts';
import { entityFields, type Field, fieldOf, fieldShape } from '../../query-model/fields.ts';
import type { Entity } from '../../query-model/row-selection.ts';
import type { TableDescription } from '../schema/table-description.ts';
import { TABLES, type Table } from '../schema/tables.ts';
import type { Storage } from './filters.ts';
import type { QueryDialect } from './query-dialect.ts';

/** Table with at most one row for each row of an entity, found by `key = of`. */
interface JoinedTable {
  readonly table: Table;
  readonly alias: string;
  readonly key: string;
  readonly of: string;
}

/** Table of an entity's rows, and the tables that hold more of their fields. */
interface Tables {
  readonly table: Table;
  readonly alias: string;
  readonly from: string;
  /** Orders the rows by block and then by their position in it. */
  readonly key: string;
  readonly joined: readonly JoinedTable[];
}

/** Tables of each entity. Details are in separate tables, because scans take longer over wide rows. */
export const ENTITIES: Readonly<Record<Entity, Tables>> = {
  blocks: {
    table: 'blocks',
    alias: 'b',
    from: 'blocks b',
    key: 'b.number',
    joined: [{ table: 'block_details', alias: 'd', key: 'number', of: 'b.number' }],
  },
  transactions: {
    table: 'transactions',
    alias: 't',
    from: 'transactions t',
    key: 't.id',
    joined: [
      { table: 'transaction_details', alias: 'd', key: 'id', of: 't.id' },
      { table: 'blocks', alias: 'k', key: 'number', of: 't.id >> 20' },
    ],
  },
  events: {
    table: 'logs',
    alias: 'l',
    from: 'logs l',
    key: 'l.id',
    joined: [
      { table: 'transactions', alias: 'x', key: 'id', of: 'l.transaction_id' },
      { table: 'blocks', alias: 'k', key: 'number', of: 'l.id >> 20' },
    ],
  },
};

/** A field in SQL. The text never contains input of a caller. */
export interface FieldSql {
  readonly sql: string;
  readonly storage: Storage;
}

/**
 * Column of a field by its public name, over the table of its entity. Other tables are read row by row.
 * @throws RangeError for an unknown name
 */
export function columnOf(entity: Entity, name: string, dialect: QueryDialect): FieldSql {
  const field = queriedField(entity, name);
  return columnFrom(field, dialect, sourceOf(entity, field, bySelect));
}

/**
 * Column of a field as an index holds it.
 * @throws RangeError for an unknown name
 */
export function indexedColumn(entity: Entity, name: string): string {
  const field = queriedField(entity, name);
  return sourceOf(entity, field, bySelect);
}

function queriedField(entity: Entity, name: string): Field {
  const field = fieldOf(entity, name);
  if (field === undefined || fieldShape(entity, name) === undefined)
    throw new RangeError(`${entity} have no field ${name}.`);
  return field;
}

/** SQL and storage form of one field of a page's rows. */
export interface RecordColumn extends FieldSql {
  readonly field: string;
}

/** Columns of a record, over `joinsOf`. */
export function recordColumns(entity: Entity, dialect: QueryDialect): readonly RecordColumn[] {
  return entityFields(entity).map(([name, field]) => {
    const { sql, storage } = columnFrom(field, dialect, sourceOf(entity, field, byJoin));
    return { field: name, sql: shown(sql, storage, dialect), storage };
  });
}

function shown(sql: string, storage: Storage, { recordBytes }: QueryDialect): string {
  if (storage === 'blob') return recordBytes(sql);
  return storage === 'time_ms' ? `${sql} / 1000` : sql;
}

/** Joins of a page, after `from (…) p`. `p.id` is the key. */
export function joinsOf(entity: Entity, { nestedJoin }: QueryDialect): string {
  const { from, key, joined } = ENTITIES[entity];
  const others = joined.map(
    ({ table, alias, key, of }) => `left join ${table} ${alias} on ${alias}.${key} = ${of}`,
  );
  return [`${nestedJoin} ${from} on ${key} = p.id`, ...others].join(' ');
}

const bySelect = ({ table, key, of }: JoinedTable, column: string) =>
  `(select ${column} from ${table} where ${key} = ${of})`;
const byJoin = ({ alias }: JoinedTable, column: string) => `${alias}.${column}`;

/** The column of a field in SQL. The state of an index is a single row. */
function sourceOf(entity: Entity, field: Field, from: typeof bySelect): string {
  const [table, column] = columnOfField(field);
  const own = ENTITIES[entity];
  if (table === own.table) return `${own.alias}.${column}`;
  if (table === 'index_state') return `(select ${column} from ${table})`;
  const joined = own.joined.find(one => one.table === table);
  if (joined === undefined) throw new RangeError(`${entity} have no columns in ${table}.`);
  return from(joined, column);
}

function columnOfField({ column }: Field): [table: string, column: string] {
  const [table = '', name = ''] = column.split('.');
  return [table, name];
}

/** Column of a log with its contract and first topic. */
export const KIND = 'l.kind';

/** Selector of a transaction without one. */
export const NO_BYTES = '0x';
/** The position in a block is in the lower bits of a key. */
const POSITION = 2 ** 20 - 1;

/** Field from its column in SQL. */
function columnFrom(field: Field, dialect: QueryDialect, sql: string): FieldSql {
  const storage = storageOf(field);
  switch (field.kind) {
    case 'block':
      return { sql: `(${sql} >> 20)`, storage };
    case 'index':
      return { sql: `(${sql} & ${POSITION})`, storage };
    case 'word':
      return { sql: dialect.expressions.integerOfBytes(sql).sql, storage: 'uint256' };
    case 'bloom':
      return { sql: `bloom_of(${sql})`, storage };
    // Without a call, or with less data than a selector, the selector is empty.
    case 'selector':
      return { sql: `coalesce(${sql}, ${dialect.bytesLiteral(NO_BYTES)})`, storage };
    default:
      return { sql, storage };
  }
}

/** Form of the column's values. */
function storageOf(field: Field): Storage {
  const [table, name] = columnOfField(field);
  const tables: Readonly<Record<string, TableDescription>> = TABLES;
  const type = tables[table]?.columns[name];
  if (type === undefined) throw new RangeError(`An index has no column ${field.column}.`);
  switch (typeOf(type)) {
    case 'count':
      return 'integer';
    case 'numeric':
      return 'uint256';
    case 'bytes':
      return 'blob';
    case 'time':
      return 'time_ms';
    default:
      return 'text';
  }
}
