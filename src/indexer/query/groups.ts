import type { Fold, Group, Value } from '../../query-model/expression.ts';
import { type CompileContext, compile } from './compile.ts';
import { positionBounds } from './filters.ts';
import { type GroupsQuery, MAX_CHARACTERS, QueryTooLarge } from './query.ts';
import type { CompiledExpression, QueryDialect, QuerySession, SqlText } from './query-dialect.ts';
import { walkOf } from './selection.ts';

/** Maximum number of keys, values and list members, per permitted group of a query. */
const VALUES_PER_GROUP = 2;

/** Column of a grouping statement, and the reader of its values. */
export interface GroupColumn extends SqlText {
  readonly read: (value: unknown) => Value | readonly Value[];
}

/** Thrown when SQLite rounded an integer to a floating-point number. */
export class RoundedInteger extends Error {}

/** Total size of the lists of all groups. */
export interface ListsTotal {
  readonly values: number;
  readonly characters: number;
}

/**
 * Returns a function that checks the running size of an answer, called with each row.
 * @throws QueryTooLarge when the answer becomes too large
 */
function sizeCheck(
  { limit, keys, folds }: GroupsQuery,
  lists: ListsTotal,
): (row: readonly unknown[]) => void {
  let groups = 0;
  let values = 0;
  let characters = 0;
  return row => {
    groups += 1;
    // The whole answer passes through the main thread, which copies each value.
    values += keys.length + folds.length;
    for (const value of row) characters += lengthOf(value);
    const isTooMuch = groups > limit || values + lists.values > VALUES_PER_GROUP * limit;
    if (isTooMuch || characters > MAX_CHARACTERS) throw new QueryTooLarge('groups');
  };
}

/** Length of a value in the answer. Call data can be long, and the answer must fit into memory. */
function lengthOf(value: unknown): number {
  if (Buffer.isBuffer(value)) return 2 * value.length;
  return typeof value === 'string' ? value.length : 0;
}

/** Columns by which a query groups. */
export function keyColumns(query: GroupsQuery, compiling: CompileContext): GroupColumn[] {
  // SQLite prefers a scan of all rows in the order of a key's index to a scan of a half-open range followed by a sort.
  const isRange = query.filters.some(filter => positionBounds(query.entity, filter) !== null);
  return query.keys.map(key => {
    const compiled = compile(key, compiling);
    const sql = isRange ? compiling.dialect.unindexed(compiled.sql) : compiled.sql;
    return { ...compiled, sql, read: value => readValue(compiled, value, compiling.dialect) };
  });
}

/** Column of a fold with one value per group. */
export function foldColumn(
  fold: Exclude<Fold, { kind: 'distinct' }>,
  compiling: CompileContext,
): GroupColumn {
  const { dialect, trustsIntegers } = compiling;
  if (fold.of === undefined) return { sql: 'count(*)', bindings: [], read: readInteger };
  const compiled = compile(fold.of, compiling);
  const { sql, bindings, form } = compiled;
  const read = (value: unknown) => readValue(compiled, value, dialect);
  switch (fold.kind) {
    case 'count':
      return { sql: `count(${sql})`, bindings, read: readInteger };
    case 'sum':
      if (form === 'bytes' || form === 'text') throw new TypeError(`${form} cannot be summed.`);
      return { sql: dialect.expressions.sum(compiled, trustsIntegers), bindings, read };
    default:
      return { sql: `${fold.kind}(${dialect.expressions.comparable(compiled)})`, bindings, read };
  }
}

/** Grouping statement. It returns one group more than the query's limit, so that an excess is noticed. */
function groupingOf(
  query: GroupsQuery,
  { dialect, keys, folds }: { dialect: QueryDialect; keys: readonly SqlText[]; folds: readonly SqlText[] },
): SqlText {
  const { from, where, bindings } = walkOf(query, dialect);
  const columns = [...keys, ...folds];
  // Without folds there are only keys. Without both there is still one group.
  const selected = columns.length > 0 ? columns.map(({ sql }) => sql).join(', ') : 'count(*)';
  const grouping = keys.length > 0 ? ` group by ${keys.map((_, index) => index + 1).join(', ')}` : '';
  return {
    sql: `select ${selected} from ${from} where ${where}${grouping} limit ?`,
    bindings: [...columns.flatMap(column => [...column.bindings]), ...bindings, BigInt(query.limit) + 1n],
  };
}

/**
 * Reads the groups of a query.
 * @throws QueryTooLarge
 */
export async function readGroups(
  session: QuerySession,
  query: GroupsQuery,
  { keys, folds, lists }: { keys: readonly GroupColumn[]; folds: readonly GroupColumn[]; lists: ListsTotal },
): Promise<Group[]> {
  const groups: Group[] = [];
  const check = sizeCheck(query, lists);
  await session.each(groupingOf(query, { dialect: session.dialect, keys, folds }), row => {
    check(row);
    groups.push({
      keys: keys.map(({ read }, index) => singleValue(read(row[index]))),
      folds: folds.map(({ read }, index) => read(row[keys.length + index])),
    });
  });
  return groups;
}

/** Narrows a value to a single one. */
export function singleValue(value: Value | readonly Value[]): Value {
  if (isList(value)) throw new TypeError('Expected a single value, got a list.');
  return value;
}

function isList(value: Value | readonly Value[]): value is readonly Value[] {
  return Array.isArray(value);
}

/**
 * Converts a driver's value by the form of its expression.
 * @throws RoundedInteger
 */
export function readValue({ form }: CompiledExpression, value: unknown, dialect: QueryDialect): Value {
  if (value === null || value === undefined) return null;
  switch (form) {
    case 'short':
    case 'long':
      return typeof value === 'string' ? dialect.integerOf(value) : readInteger(value);
    case 'real':
      return realOf(Number(value));
    case 'bytes':
      return dialect.hexOf(value);
    case 'text':
      return String(value);
  }
}

function readInteger(value: unknown): bigint {
  if (typeof value === 'bigint') return value;
  throw new RoundedInteger();
}

/** Null for infinity and NaN. */
export function realOf(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
