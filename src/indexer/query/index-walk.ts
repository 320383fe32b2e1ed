import { entityFields } from '../../query-model/fields.ts';
import type { Entity, Filter, RowSelection } from '../../query-model/row-selection.ts';
import { indexesOf } from '../schema/table-description.ts';
import { TABLES } from '../schema/tables.ts';
import { ENTITIES, indexedColumn, KIND } from './columns.ts';
import { filterValue, type PositionBounds, positionBounds, separatedKind } from './filters.ts';
import type { SqlText } from './query-dialect.ts';
import { conditionsOf, type SelectionOptions, selectionOf, whereAll } from './selection.ts';

/** Indexes of each entity that find rows by the bytes of fields, in the order of their keys; longest first. */
export const INDEXES: Readonly<Record<Entity, readonly (readonly string[])[]>> = {
  blocks: indexedFields('blocks'),
  transactions: indexedFields('transactions'),
  events: indexedFields('events'),
};

/** Names of the fields of each index, without the key. */
function indexedFields(entity: Entity): string[][] {
  const { table } = ENTITIES[entity];
  const [key] = TABLES[table].key;
  const names = new Map([
    ...entityFields(entity).flatMap(([name, { kind, column }]): [string, string[]][] =>
      kind === 'hex' || kind === 'selector' ? [[column, [name]]] : [],
    ),
    ['logs.kind', ['address', 'topic_0']],
  ]);
  return indexesOf(TABLES[table])
    .filter(({ columns, where }) => columns.at(-1) === key && isOfAllValues(columns, where))
    .map(({ columns }) => columns.slice(0, -1).map(column => names.get(`${table}.${column}`)))
    .flatMap(fields => {
      const known = fields.filter(name => name !== undefined);
      return known.length === fields.length ? [known.flat()] : [];
    })
    .toSorted((a, b) => b.length - a.length);
}

/** True for an index that lacks at most rows without a value in one of its columns. */
function isOfAllValues(columns: readonly string[], where: unknown): boolean {
  return where === undefined || columns.some(column => where === `${column} is not null`);
}

/** Rows in key order, for `select … from … where ${where} order by ${columns}, key`. */
export interface IndexWalk {
  readonly where: string;
  readonly bindings: readonly unknown[];
  /** Columns with the same value in all selected rows. */
  readonly columns: readonly string[];
}

/**
 * Selected rows without a wallet, to be read in key order.
 * For a frequent value, PostgreSQL prefers to scan the rows of all values in that order. It uses the column's index
 * when rows are compared as tuples and the column is part of the sort order.
 */
export function indexWalk(selected: RowSelection, options: SelectionOptions): IndexWalk {
  const prefix = options.dialect.walksAllValues ? prefixOf(selected) : [];
  if (prefix.length === 0) return { ...selectionOf(selected, options), columns: [] };
  const { entity, filters } = selected;
  const bounds = filters.map(filter => positionBounds(entity, filter)).filter(one => one !== null);
  const others = filters.filter(
    filter => !prefix.includes(filter) && positionBounds(entity, filter) === null,
  );
  const keys = keysOf(entity, prefix);
  const conditions = [
    ...rangeOf(keys, { key: ENTITIES[entity].key, bounds }),
    ...conditionsOf({ ...selected, filters: others }, options),
  ];
  return { ...whereAll(conditions), columns: keys.map(({ column }) => column) };
}

/** Column of an index with the value that its rows must have. */
interface IndexKey {
  readonly column: string;
  readonly value: SqlText;
}

function keysOf(entity: Entity, prefix: readonly Filter[]): IndexKey[] {
  const { kind, others } = separatedKind(entity, prefix);
  return [
    ...(kind === null ? [] : [{ column: KIND, value: kind }]),
    ...others.map(({ field, value }) => ({
      column: indexedColumn(entity, field),
      value: { sql: '?', bindings: [filterValue('blob', value)] },
    })),
  ];
}

function prefixOf({ entity, filters }: RowSelection): Filter[] {
  for (const fields of INDEXES[entity]) {
    const found = fields.map(name => filters.find(filter => filter.field === name && isIndexed(filter)));
    const given = found.filter(filter => filter !== undefined);
    if (given.length === fields.length) return given;
  }
  return [];
}

/** True when an index can find the value. An empty or truncated selector is null in its column and so in no index. */
export function isIndexed({ operator, value }: Filter): boolean {
  return operator === 'eq' && value !== '0x';
}

/** Conditions for a range of an index: its columns have the given values, and the key is within all bounds. */
function rangeOf(
  keys: readonly IndexKey[],
  { key, bounds }: { key: string; bounds: readonly PositionBounds[] },
): SqlText[] {
  const columns = keys.map(({ column }) => column);
  const marks = keys.map(({ value }) => value.sql);
  const values = keys.flatMap(({ value }) => value.bindings);
  const row = (parts: readonly string[]) => `(${parts.join(', ')})`;
  const compared = (sign: string, bound: SqlText | undefined): SqlText =>
    bound === undefined
      ? { sql: `${row(columns)} ${sign}= ${row(marks)}`, bindings: values }
      : {
          sql: `${row([...columns, key])} ${sign} ${row([...marks, bound.sql])}`,
          bindings: [...values, ...bound.bindings],
        };
  const above = bounds.map(({ from }) => from).filter(from => from !== undefined);
  const below = bounds.map(one => one.below).filter(one => one !== undefined);
  return [
    // Required for partial indexes; a comparison of tuples does not imply it.
    ...columns.map(column => ({ sql: `${column} is not null`, bindings: [] })),
    ...(above.length === 0 ? [compared('>', undefined)] : above.map(bound => compared('>=', bound))),
    ...(below.length === 0 ? [compared('<', undefined)] : below.map(bound => compared('<', bound))),
    ...bounds.map(({ also }) => also).filter(also => also !== undefined),
  ];
}
