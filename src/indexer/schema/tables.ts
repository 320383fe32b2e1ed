import type { RowOf } from '../../db/columns.ts';
import type { Dialect } from '../../db/dialect.ts';
import { BLOCK_TABLES } from './block-tables.ts';
import { STATE_TABLES } from './state-tables.ts';
import { createIndexes, createTable, type TableDescription } from './table-description.ts';

/** Every table of an index, parents first. The database's SQL, the types of rows and what a reorganisation deletes follow. */
export const TABLES = { ...BLOCK_TABLES, ...STATE_TABLES };
export type Table = keyof typeof TABLES;

/** Views that each database defines over tables of its own, for sums beyond 64 bits. */
interface Views {
  /** `supply_parts` is a JSON list of texts, highest part first, of ten digits each except the highest. */
  totals: RowOf<{
    blocks: 'count';
    transactions: 'count';
    gas_used: 'text';
    filled_blocks: 'count';
    untraced_blocks: 'count';
    addresses: 'count';
    supply_parts: 'json';
    contracts: 'count';
  }>;
  /** Number and fees of all transactions up to and including a block. Parts as in `totals`. */
  block_sums: RowOf<{ number: 'count'; transactions: 'count'; fee_parts: 'json' }>;
  /**
   * Sums of all trades of a pair up to this one. JSON lists of parts, highest first, of 32 bits each except the highest.
   */
  pair_volumes: RowOf<{
    id: 'count';
    pair: 'bytes';
    timestamp: 'time';
    first_parts: 'json';
    second_parts: 'json';
  }>;
}

/** Columns that an insert writes. */
export type OwnColumns<Name extends Table> = (typeof TABLES)[Name]['columns'];
type ComputedColumns<Name extends Table> = NonNullable<(typeof TABLES)[Name]['computed']>;
/** A table without computed columns has those of any name. */
type ComputedRow<Name extends Table> = string extends keyof ComputedColumns<Name>
  ? unknown
  : RowOf<ComputedColumns<Name>>;

/** A row of each table or view of an index, as read. Rows of SQL queries pick their columns from here. */
export type IndexTables = {
  [Name in Table]: RowOf<OwnColumns<Name>> & ComputedRow<Name>;
} & Views;

/** Row as inserted. */
export type NewRow<Name extends Table> = RowOf<OwnColumns<Name>>;

/** Statements that create the tables with their indexes. */
export function createTables(dialect: Dialect): string[] {
  return each((name, table) => [createTable(name, table, dialect), ...createIndexes(name, table, dialect)]);
}

/** Tokens that first moved in a block above `:ancestor`. */
export const NEW_TOKENS = 'select address from tokens where first_block > :ancestor';

/** Statements that delete the rows of all blocks above `:ancestor`, whose keys begin with `:from`. Children come first. */
export const DELETE_REMOVED = each((name, { unwinding }) => {
  if (typeof unwinding === 'string') return [];
  if ('position' in unwinding) return [`delete from ${name} where ${unwinding.position} >= :from`];
  if ('number' in unwinding) return [`delete from ${name} where ${unwinding.number} > :ancestor`];
  const { token, only = 'true' } = unwinding;
  return [`delete from ${name} where ${token} in (${NEW_TOKENS}) and ${only}`];
}).toReversed();

function each(sql: (name: string, table: TableDescription) => readonly string[]): string[] {
  return Object.entries<TableDescription>(TABLES).flatMap(([name, table]) => sql(name, table));
}
