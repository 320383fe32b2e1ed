import { allOf, columnOf, conditionsOf, type SelectionOptions, selectionOf, TABLES } from './entities.ts';
import { filterValue, type PlaceBounds, placeBounds } from './filters.ts';
import type { Entity, Filter, RowSelection } from './query.ts';
import type { SqlText } from './query-dialect.ts';

/** Indexes that end in the key, as the field names of their columns; longest first. */
const INDEXES: Readonly<Record<Entity, readonly (readonly string[])[]>> = {
  blocks: [['miner']],
  transactions: [['from_address'], ['to_address'], ['contract_address'], ['function_selector']],
  events: [
    ['address', 'topic_0', 'topic_1'],
    ['address', 'topic_0', 'topic_2'],
    ['address', 'topic_0', 'topic_3'],
    ['address', 'topic_0'],
    ['address'],
    ['topic_0'],
  ],
};

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
  const bounds = filters.map(filter => placeBounds(entity, filter)).filter(one => one !== null);
  const others = filters.filter(filter => !prefix.includes(filter) && placeBounds(entity, filter) === null);
  const columns = prefix.map(({ field }) => columnOfIndex(entity, field, options));
  const values = prefix.map(({ value }) => filterValue('blob', value));
  const conditions = [
    ...rangeOf({ columns, values, key: TABLES[entity].key }, bounds),
    ...conditionsOf({ ...selected, filters: others }, options),
  ];
  return { ...allOf(conditions), columns };
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

function columnOfIndex(entity: Entity, field: string, { dialect }: SelectionOptions): string {
  return field === 'function_selector' ? 't.selector' : columnOf(entity, field, dialect).sql;
}

/** Conditions for a range of an index: its columns have the given values, and the key is within all bounds. */
function rangeOf(
  { columns, values, key }: { columns: readonly string[]; values: readonly unknown[]; key: string },
  bounds: readonly PlaceBounds[],
): SqlText[] {
  const marks = values.map(() => '?');
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
