import type Database from 'better-sqlite3';
import { hexOf } from '../../db/columns.ts';
import type { Fold, Group, Value } from '../../lib/expression.ts';
import { type CompileContext, type CompiledExpression, compile, digitsOf } from './compile.ts';
import { selectionOf } from './entities.ts';
import { placeBounds } from './filters.ts';
import { integerOf, type ListsSize, MOST_CHARACTERS } from './functions.ts';
import { type GroupsAnswer, type GroupsQuery, QueryTooLarge } from './query.ts';

/**
 * Groups the rows of a query. Needs a connection of `openQueryDatabase` with `registerFunctions`, which gave
 * `lists`. @throws QueryTooLarge when there is more than the query's limit says, or when it is too long.
 */
export function groupsOf(db: Database, query: GroupsQuery, lists: ListsSize): GroupsAnswer {
  try {
    return { groups: run(db, query, lists, true) };
  } catch (error) {
    if (!isOverflow(error)) throw error;
    // Rare enough to do the work twice: SQLite's own integers are many times faster.
    return { groups: run(db, query, lists, false) };
  }
}

/** An integer of SQLite's became a rounded number. */
class RoundedInteger extends Error {}

function isOverflow(error: unknown): boolean {
  return error instanceof RoundedInteger || (error instanceof Error && error.message === 'integer overflow');
}

/** Keys, values and members of lists for each group that a query may have. */
const VALUES_PER_GROUP = 2;

/** A column of the statement, and how its values are read. */
interface SelectColumn {
  readonly sql: string;
  readonly bindings: readonly unknown[];
  readonly read: (value: unknown) => Value | readonly Value[];
}

function run(db: Database, query: GroupsQuery, lists: ListsSize, trustsIntegers: boolean): Group[] {
  Object.assign(lists, { values: 0, characters: 0, mostValues: query.limit } satisfies ListsSize);
  const compiling = { entity: query.entity, trustsIntegers };
  // SQLite would rather walk over all rows in the order of a key's index than over a range that is open at one end, and
  // sort. A plus hides the index from it.
  const hidden = query.filters.some(filter => placeBounds(query.entity, filter) !== null) ? '+' : '';
  const keys = query.keys.map(key => {
    const compiled = compile(key, compiling);
    const read = (value: unknown) => readValue(compiled, value);
    return { ...compiled, sql: `${hidden}${compiled.sql}`, read };
  });
  const folds = query.folds.map(fold => foldColumn(fold, compiling));
  const { from, where, bindings } = selectionOf(query);
  const columns = [...keys, ...folds];
  // Without a fold there are only keys, and without both there is still one group.
  const selected = columns.length > 0 ? columns.map(({ sql }) => sql).join(', ') : 'count(*)';
  const grouping = keys.length > 0 ? ` group by ${keys.map((_, index) => index + 1).join(', ')}` : '';
  const sql = `select ${selected} from ${from} where ${where}${grouping} limit ?`;
  const values = [...columns.flatMap(column => [...column.bindings]), ...bindings, BigInt(query.limit) + 1n];

  const groups: Group[] = [];
  let characters = 0;
  let held = 0;
  const rows = db
    .prepare(sql)
    .raw()
    .safeIntegers()
    .iterate(...values);
  for (const row of rows) {
    if (!Array.isArray(row)) throw new TypeError('The driver gave a row that is no list.');
    if (groups.length === query.limit) throw new QueryTooLarge('groups');
    // All of it goes through the main thread, which copies value by value.
    held += columns.length;
    if (held + lists.values > VALUES_PER_GROUP * query.limit) throw new QueryTooLarge('groups');
    for (const value of row) characters += lengthOf(value);
    if (characters > MOST_CHARACTERS) throw new QueryTooLarge('groups');
    groups.push({
      keys: keys.map(({ read }, index) => read(row[index])),
      folds: folds.map(({ read }, index) => read(row[keys.length + index])),
    });
  }
  return groups;
}

/** Call data and lists can be long, and what is given back has to fit into memory. */
function lengthOf(value: unknown): number {
  if (Buffer.isBuffer(value)) return 2 * value.length;
  return typeof value === 'string' ? value.length : 0;
}

function foldColumn(fold: Fold, compiling: CompileContext): SelectColumn {
  if (fold.of === undefined) return { sql: 'count(*)', bindings: [], read: integer };
  const compiled = compile(fold.of, compiling);
  const { sql, bindings, form } = compiled;
  switch (fold.kind) {
    case 'count':
      return { sql: `count(${sql})`, bindings, read: integer };
    case 'distinct':
      return { sql: `value_list(distinct ${sql})`, bindings, read: listReader(compiled) };
    case 'sum': {
      if (form === 'bytes' || form === 'text') throw new TypeError(`${form} cannot be added up.`);
      const read = (value: unknown) => readValue(compiled, value);
      if (form === 'real' || (form === 'short' && compiling.trustsIntegers)) {
        return { sql: `sum(${sql})`, bindings, read };
      }
      // What is added up at once needs no sortable text in between.
      const summed = fold.of.kind === 'hexToInteger' ? digitsOf(fold.of.of, compiling) : compiled;
      return { sql: `exact_sum(${summed.sql})`, bindings, read: long };
    }
    default:
      return { sql: `${fold.kind}(${sql})`, bindings, read: value => readValue(compiled, value) };
  }
}

function integer(value: unknown): bigint {
  if (typeof value === 'bigint') return value;
  throw new RoundedInteger();
}

function long(value: unknown): bigint | null {
  return value === null ? null : integerOf(String(value));
}

function readValue({ form }: CompiledExpression, value: unknown): Value {
  if (value === null || value === undefined) return null;
  switch (form) {
    case 'short':
      return integer(value);
    case 'real':
      return realOf(Number(value));
    case 'long':
      return long(value);
    case 'bytes':
      if (!Buffer.isBuffer(value)) throw new TypeError('A column of bytes holds something else.');
      return hexOf(value);
    case 'text':
      return String(value);
  }
}

/** What is beyond all numbers is none. */
function realOf(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** Reads what `value_list` gives. */
function listReader({ form }: CompiledExpression): (value: unknown) => readonly Value[] {
  return list => {
    const texts: unknown = JSON.parse(String(list));
    if (!Array.isArray(texts)) throw new TypeError('The list of values is none.');
    return texts.map(text => listed(form, String(text)));
  };
}

function listed(form: CompiledExpression['form'], text: string): Value {
  switch (form) {
    case 'short':
      if (!/^-?\d+$/.test(text)) throw new RoundedInteger();
      return BigInt(text);
    case 'long':
      return integerOf(text);
    case 'real':
      return realOf(Number(text));
    default:
      return text;
  }
}
