import type { Entity, Filter, RowSelection } from '../../query-model/row-selection.ts';
import { columnOf, ENTITIES, indexedColumn, KIND, NO_BYTES } from './columns.ts';
import { filterValue, type PositionBounds, positionBounds, separatedKind } from './filters.ts';
import type { QueryDialect, SqlText, SteppedKeyRange } from './query-dialect.ts';

/** Options of a selection. `isShort` is for a scan that need not be cancellable before its limit. */
export interface SelectionOptions {
  readonly dialect: QueryDialect;
  readonly isShort?: boolean;
}

/** Keys per part of a range: those of 256 blocks, or of 4,096 if a block has one key. */
const PART_KEYS: Readonly<Record<Entity, number>> = {
  blocks: 2 ** 12,
  transactions: 2 ** 28,
  events: 2 ** 28,
};

/**
 * Same rows as `selectionOf`. The scan is divided into parts where the filters select one range of keys and the
 * database needs parts to cancel a statement. A condition on every row would take a fifth of a counting scan.
 */
export function walkOf(
  selected: RowSelection,
  dialect: QueryDialect,
): { from: string; where: string; bindings: unknown[] } {
  const range = rangeOf(selected);
  const parts = range === null ? null : dialect.partsOf(range);
  if (range === null || parts === null) return selectionOf(selected, { dialect });
  const { from, key } = ENTITIES[selected.entity];
  return {
    from: `${parts.sql} p ${dialect.nestedJoin} ${from}`,
    where: `${key} >= p.first and ${key} < min(p.first + ${range.step}, p.below)`,
    bindings: [...parts.bindings],
  };
}

/** Single range of keys that the filters select, limited to existing keys; null for other filters. */
function rangeOf(selected: RowSelection): SteppedKeyRange | null {
  const { entity, filters, wallet } = selected;
  const bounds = filters.map(filter => positionBounds(entity, filter));
  if (bounds.length === 0 || wallet !== undefined) return null;
  if (bounds.some(bound => bound === null || bound.also !== undefined)) return null;
  const { from, key } = ENTITIES[entity];
  const some = (side: 'from' | 'below') => bounds.flatMap(bound => bound?.[side] ?? []);
  return {
    from: outermost('max', [{ sql: `(select min(${key}) from ${from})`, bindings: [] }, ...some('from')]),
    below: outermost('min', [
      { sql: `(select max(${key}) + 1 from ${from})`, bindings: [] },
      ...some('below'),
    ]),
    step: PART_KEYS[entity],
  };
}

/** Greatest or least of several scalars; null when one of them is null. */
function outermost(choose: 'max' | 'min', scalars: readonly SqlText[]): SqlText {
  return scalars.reduce((one, other) => ({
    sql: `${choose}(${one.sql}, ${other.sql})`,
    bindings: [...one.bindings, ...other.bindings],
  }));
}

/** Selected rows, for `select … from ${from} where ${where}`; see `conditionsOf`. */
export function selectionOf(
  selected: RowSelection,
  options: SelectionOptions,
): { from: string; where: string; bindings: unknown[] } {
  const conditions = conditionsOf(selected, options);
  const { wallet } = selected;
  // Each side has an index, and both databases combine the two without duplicate rows.
  if (wallet !== undefined)
    conditions.push({
      sql: '(t.from_address = ? or t.to_address = ?)',
      bindings: [filterValue('blob', wallet), filterValue('blob', wallet)],
    });
  return { from: ENTITIES[selected.entity].from, ...whereAll(conditions) };
}

/** Joins conditions with `and`. */
export function whereAll(conditions: readonly SqlText[]): { where: string; bindings: unknown[] } {
  return {
    where: conditions.length === 0 ? 'true' : conditions.map(({ sql }) => sql).join(' and '),
    bindings: conditions.flatMap(({ bindings }) => [...bindings]),
  };
}

/**
 * Conditions of the filters, without the wallet. SQLite checks them in this order, so every row reaches the
 * interruption, which takes about a third of a scan that does nothing else.
 */
export function conditionsOf(selected: RowSelection, { dialect, isShort }: SelectionOptions): SqlText[] {
  const { entity, filters } = selected;
  const { kind, others } = separatedKind(entity, filters);
  return [
    ...(isShort ? [] : dialect.interruption(ENTITIES[entity].key)),
    ...(kind === null ? [] : [{ ...kind, sql: `${KIND} = ${kind.sql}` }]),
    ...others.map(filter => conditionOf(selected, filter, dialect)),
  ];
}

/** True when the filters select one range of keys, so that every scanned row matches. */
export function isOneRange({ entity, filters, wallet }: RowSelection): boolean {
  return wallet === undefined && filters.every(filter => positionBounds(entity, filter) !== null);
}

const SIGNS = { eq: '=', gte: '>=', gt: '>', lte: '<=', lt: '<' } as const;

function conditionOf(selected: RowSelection, filter: Filter, dialect: QueryDialect): SqlText {
  const { entity } = selected;
  const bounds = positionBounds(entity, filter);
  if (bounds !== null) return boundedBy(ENTITIES[entity].key, bounds);
  const { field, operator, value } = filter;
  if (field === 'function_selector' && operator === 'eq' && value !== NO_BYTES) {
    // The bare column, because the index is over it. With an address filter the index is avoided, because the address
    // selects fewer rows.
    const bare = indexedColumn(entity, field);
    const column = isOfAddress(selected) ? dialect.unindexed(bare) : bare;
    return { sql: `${column} = ?`, bindings: [filterValue('blob', value)] };
  }
  const { sql, storage } = columnOf(entity, field, dialect);
  const bound = storage === 'uint256' ? dialect.amount(BigInt(value)) : filterValue(storage, value);
  return { sql: `${sql} ${SIGNS[operator]} ?`, bindings: [bound] };
}

function isOfAddress({ filters, wallet }: RowSelection): boolean {
  const fields = ['from_address', 'to_address'];
  return (
    wallet !== undefined || filters.some(({ field, operator }) => operator === 'eq' && fields.includes(field))
  );
}

function boundedBy(key: string, { from, below, also }: PositionBounds): SqlText {
  const parts: SqlText[] = [];
  if (from !== undefined) parts.push({ sql: `${key} >= ${from.sql}`, bindings: from.bindings });
  if (below !== undefined) parts.push({ sql: `${key} < ${below.sql}`, bindings: below.bindings });
  if (also !== undefined) parts.push(also);
  const { where, bindings } = whereAll(parts);
  return { sql: where, bindings };
}
