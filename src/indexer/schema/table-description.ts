import type { Columns, ColumnType } from '../../db/columns.ts';
import type { Dialect } from '../../db/dialect.ts';
import { table } from '../../db/migrate.ts';
import { typeOf } from '../../db/rows.ts';

/**
 * Header fields of the Amsterdam fork. A step after the first one adds them, so that an index of an older version keeps
 * its blocks.
 */
export const AMSTERDAM_HEADER = { slot_number: 'count?', block_access_list_hash: 'bytes?' } as const;

/** 1 for a block that was recomputed up to its hash, 0 for others and for blocks of older versions. A later step adds it. */
export const PROVEN = { proven: 'small' } as const;

/** Columns of blocks that later steps add. */
export const LATER_HEADER = { ...AMSTERDAM_HEADER, ...PROVEN };

/** Number of proven blocks. A later step adds it. */
export const PROVEN_COUNTER = { proven_blocks: 'count' } as const;

/** Columns that the first step leaves out. */
const LATER = { ...LATER_HEADER, ...PROVEN_COUNTER };

/** SQL that may depend on the database. */
type DialectSql = string | ((dialect: Dialect) => string);

/**
 * Effect of a reorganisation on the rows of a table:
 * - `position` and `number` name the column with the key or the number of the block: rows of removed blocks are deleted.
 * - `token` names the column of a token: rows of tokens that first moved in a removed block are deleted, or `only` some.
 * - `triggers`: triggers on the tables from which the rows derive keep them.
 * - `state`: the removed blocks' state is read again from the chain.
 * - `none`: the rows belong to no block.
 */
type Unwinding<Name extends string> =
  | { readonly position: Name }
  | { readonly number: Name }
  | { readonly token: Name; readonly only?: string }
  | 'triggers'
  | 'state'
  | 'none';

/** Columns in order, with the key last, of all rows or of some. */
type IndexDescription<Name extends string> =
  | readonly Name[]
  | { readonly columns: readonly Name[]; readonly where: DialectSql };

/** Table of an index, from which its SQL and the types of its rows follow. */
export interface TableDescription<
  Own extends Columns = Columns,
  Computed extends Columns = Columns,
  Name extends string = string,
> {
  /** Columns that an insert writes. */
  readonly columns: Own;
  readonly key: readonly Name[];
  readonly unwinding: Unwinding<Name>;
  /** True for a key that the database counts up and never uses again. */
  readonly isNumbered?: boolean;
  readonly unique?: readonly (readonly Name[])[];
  /** Indexes by their names, without that of the table. */
  readonly indexes?: Readonly<Record<string, IndexDescription<Name>>>;
  /** Values of columns that an insert may leave out. */
  readonly defaults?: Readonly<Partial<Record<Name, DialectSql>>>;
  /** Columns that the database computes, with their expressions. */
  readonly computed?: Computed;
  readonly expressions?: Readonly<Record<Extract<keyof Computed, string>, string>>;
  /** Condition that holds for every row. */
  readonly check?: string;
}

/** Describes a table. Its key, indexes and rule can name only columns that it has. */
export function describe<const Own extends Columns, const Computed extends Columns = Record<never, never>>(
  description: TableDescription<Own, Computed, Extract<keyof (Own & Computed), string>>,
): TableDescription<Own, Computed, Extract<keyof (Own & Computed), string>> {
  return description;
}

/** Statement that creates a table without the columns that are added later. */
export function createTable(name: string, described: TableDescription, dialect: Dialect): string {
  const { columns, key, unique = [], defaults = {}, computed = {}, expressions = {}, check } = described;
  const hasOneKey = isOneInteger(described);
  const keySql = described.isNumbered === true ? dialect.numberedKey : 'primary key';
  const first = Object.entries(columns).filter(([column]) => !Object.hasOwn(LATER, column));
  const own = sorted(Object.fromEntries(first)).map(([column, type]) => {
    const value = defaults[column];
    const rest = [
      hasOneKey && column === key[0] ? keySql : type.endsWith('?') ? '' : 'not null',
      value === undefined ? '' : ` default (${sqlOf(value, dialect)})`,
    ];
    return [column, [typeOf(type), rest.join('')]] as const;
  });
  const more = Object.entries(computed).map(
    ([column, type]) =>
      [column, [typeOf(type), `generated always as (${expressions[column]}) ${dialect.computed}`]] as const,
  );
  const constraints = [
    ...(hasOneKey ? [] : [`primary key (${key.join(', ')})`]),
    ...unique.map(names => `unique (${names.join(', ')})`),
    ...(check === undefined ? [] : [`check (${check})`]),
  ];
  const sql = table(name, Object.fromEntries([...own, ...more]), constraints)(dialect);
  return hasOneKey ? sql : `${sql}${dialect.withoutRowId}`;
}

/** Bytes of the types with a fixed length on PostgreSQL. */
const WIDTHS: Readonly<Partial<Record<ColumnType, number>>> = { count: 8, time: 8, int: 4, small: 2 };

/**
 * Columns in the order of storage, long integers first: PostgreSQL pads the bytes before an integer, and SQLite reads all
 * that precedes a column.
 */
function sorted(columns: Columns): [string, Columns[string]][] {
  const widthOf = (type: Columns[string]) => WIDTHS[typeOf(type)] ?? 0;
  return Object.entries(columns).toSorted(([, a], [, b]) => widthOf(b) - widthOf(a));
}

/**
 * Statements that create a table's indexes. Each ends in the row's key, its position on the chain: rows with equal
 * values are found in order.
 */
export function createIndexes(name: string, described: TableDescription, dialect: Dialect): string[] {
  const isKeyImplied = dialect.indexesEndInKey && isOneInteger(described);
  return indexesOf(described).map(({ index, columns, where }) => {
    const named = columns.filter(column => !(isKeyImplied && column === described.key[0]));
    const rows = where === undefined ? '' : ` where ${sqlOf(where, dialect)}`;
    return `create index ${name}_${index} on ${name} (${named.join(', ')})${rows}`;
  });
}

/** Indexes of a table; `where` is the condition of the rows in a partial one. */
export function indexesOf({
  indexes = {},
}: TableDescription): { index: string; columns: readonly string[]; where?: DialectSql }[] {
  return Object.entries(indexes).map(([index, description]) =>
    'columns' in description ? { index, ...description } : { index, columns: description },
  );
}

function isOneInteger({ columns, key: [first = '', ...others] }: TableDescription): boolean {
  return others.length === 0 && columns[first] === 'count';
}

function sqlOf(sql: DialectSql, dialect: Dialect): string {
  return typeof sql === 'string' ? sql : sql(dialect);
}
