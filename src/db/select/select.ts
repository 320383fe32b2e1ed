import type { Binding } from '../columns.ts';
import type { Dialect } from '../dialect.ts';
import type { Handle } from '../open.ts';
import { rowsOf, type Sql } from '../query.ts';
import { type DescribedTables, listSql, type SelectParts, selectSql } from './select-sql.ts';
import type {
  ComputedColumns,
  JoinText,
  SelectedItem,
  SelectedRow,
  TableText,
  Unambiguous,
} from './selected-row.ts';

/** A `select` up to its conditions, which are text given each time (rows typed by their selection, Decision 336). */
export interface Selection<Row> {
  /** Rows that meet the conditions. `rest` is all that follows the tables: `where`, `order by`, `limit`. */
  rows(handle: Handle, rest?: string, bindings?: readonly Binding[]): Promise<Row[]>;
  /** The same columns of the rows that an `insert`, `update` or `delete` changes, which is written without `returning`. */
  changed(handle: Handle, change: string, bindings?: readonly Binding[]): Promise<Row[]>;
  /** The statement, as a part of another one. */
  query(handle: Pick<Handle, 'dialect'>, rest?: string, bindings?: readonly Binding[]): RowSql<Row>;
}

/** Statement with the type of its rows. */
export interface RowSql<Row> extends Sql {
  /** Never set. It holds the type. */
  readonly row?: Row;
}

/**
 * Function that describes a `select` over some tables. `described` gives the types of their columns, which only `hex`
 * needs. The text is composed at the first read, so a selection that is read often is a constant of its module.
 */
export function selectFrom<Tables extends object>(described: DescribedTables = {}) {
  return function select<
    const From extends TableText<Tables> = never,
    const Join extends JoinText<Tables> = never,
    const LeftJoin extends JoinText<Tables> = never,
    const Columns extends string &
      SelectedItem<{ tables: Tables; from: From; join: Join; leftJoin: LeftJoin }> = never,
    const InHex extends string &
      SelectedItem<{ tables: Tables; from: From; join: Join; leftJoin: LeftJoin }> = never,
    const Computed extends ComputedColumns = Record<never, never>,
  >(
    parts: SelectParts & {
      readonly from?: From;
      readonly join?: readonly Join[];
      readonly leftJoin?: readonly LeftJoin[];
      readonly columns?: readonly Columns[];
      readonly hex?: readonly InHex[];
      readonly computed?: Computed;
    } & Unambiguous<
        { tables: Tables; from: From; join: Join; leftJoin: LeftJoin },
        Columns | InHex,
        Computed
      >,
  ): Selection<
    SelectedRow<{ tables: Tables; from: From; join: Join; leftJoin: LeftJoin }, Columns, InHex, Computed>
  > {
    let text = '';
    let writtenFor: Dialect | undefined;
    const textOn = (dialect: Dialect, rest: string) => {
      if (dialect !== writtenFor) text = selectSql(parts, dialect, described);
      writtenFor = dialect;
      return rest === '' ? text : `${text} ${rest}`;
    };
    return {
      rows: (handle, rest = '', bindings = []) => rowsOf(handle, textOn(handle.dialect, rest), bindings),
      changed: (handle, change, bindings = []) =>
        rowsOf(handle, `${change} returning ${listSql(parts, handle.dialect, described)}`, bindings),
      query: ({ dialect }, rest = '', bindings = []) => ({ sql: textOn(dialect, rest), bindings }),
    };
  };
}

/** Reads the rows of a statement. */
export function readRows<Row>(handle: Handle, { sql, bindings }: RowSql<Row>): Promise<Row[]> {
  return rowsOf<Row>(handle, sql, bindings);
}

/** All rows of statements with equal columns in equal order, or the first `limit`. */
export function unionAll<Row>(statements: readonly RowSql<Row>[], limit?: number): RowSql<Row> {
  const sql = statements.map(each => each.sql).join(' union all ');
  const bindings = statements.flatMap(each => each.bindings);
  return limit === undefined ? { sql, bindings } : { sql: `${sql} limit ?`, bindings: [...bindings, limit] };
}

/** A statement whose `order by` and `limit` stay its own in a `unionAll`. */
export function enclosed<Row>({ sql, bindings }: RowSql<Row>): RowSql<Row> {
  return { sql: `select * from (${sql}) as found`, bindings };
}

/** All rows of statements with equal columns. `statement` is the position of the row's statement. */
export function unionByStatement<Row>(
  statements: readonly RowSql<Row>[],
): RowSql<Row & { statement: number }> {
  return unionAll(
    statements.map(({ sql, bindings }, index) => ({
      sql: `select ${index} as statement, found.* from (${sql}) as found`,
      bindings,
    })),
  );
}

/** Row that a selection reads. */
export type RowIn<One> = One extends Selection<infer Row> ? Row : never;
