import { canonicalJson } from '#lib/json.ts';
import type { Group, Value } from '#query-model/expression.ts';
import { type CompileContext, compile } from '../compile.ts';
import {
  foldColumn,
  type GroupColumn,
  keyColumns,
  type ListsTotal,
  readGroups,
  readValue,
  singleValue,
} from '../groups.ts';
import { type GroupsAnswer, type GroupsQuery, MAX_CHARACTERS, QueryTooLarge } from '../query.ts';
import type { QuerySession, SqlText } from '../query-dialect.ts';
import { selectionOf } from '../selection.ts';

/** Values of all lists: by fold, then by the group's keys. */
type Lists = ReadonlyMap<number, ReadonlyMap<string, Value[]>>;

/**
 * Groups the rows of a query. Each list fold needs one more statement: only rows can be limited, and an aggregate would
 * hold the whole list in the server's memory.
 * @throws QueryTooLarge when the answer exceeds the query's limit or the maximum length
 */
export async function postgresGroups(
  session: QuerySession,
  query: GroupsQuery,
  trustsIntegers: boolean,
): Promise<GroupsAnswer> {
  const compiling = { entity: query.entity, dialect: session.dialect, trustsIntegers };
  const keys = keyColumns(query, compiling);
  const { lists, total } = await listsOf(session, query, { keys, compiling });
  const folds = query.folds.flatMap(fold => (fold.kind === 'distinct' ? [] : [foldColumn(fold, compiling)]));
  const groups = await readGroups(session, query, { keys, folds, lists: total });
  return { groups: lists.size === 0 ? groups : groups.map(group => withLists(group, lists)) };
}

async function listsOf(
  session: QuerySession,
  query: GroupsQuery,
  { keys, compiling }: { keys: readonly GroupColumn[]; compiling: CompileContext },
): Promise<{ lists: Lists; total: ListsTotal }> {
  const lists = new Map<number, Map<string, Value[]>>();
  const total = { values: 0, characters: 0 };
  for (const [index, fold] of query.folds.entries()) {
    if (fold.kind !== 'distinct') continue;
    const byKeys = new Map<string, Value[]>();
    const compiled = compile(fold.of, compiling);
    const { sql, bindings } = valuesOf(query, { ...compiling, columns: [...keys, compiled] });
    await session.each({ sql, bindings: [...bindings, BigInt(query.limit - total.values) + 1n] }, row => {
      const value = readValue(compiled, row[keys.length], session.dialect);
      total.values += 1;
      total.characters += String(value).length;
      if (total.values > query.limit || total.characters > MAX_CHARACTERS) throw new QueryTooLarge('groups');
      const name = canonicalJson(keys.map(({ read }, column) => singleValue(read(row[column]))));
      const list = byKeys.get(name);
      if (list === undefined) byKeys.set(name, [value]);
      else list.push(value);
    });
    lists.set(index, byKeys);
  }
  return { lists, total };
}

/**
 * Selects the distinct values of the last column together with the keys, which are the other columns. Ends with a
 * placeholder for a limit.
 */
function valuesOf(
  query: GroupsQuery,
  { dialect, columns }: CompileContext & { columns: readonly SqlText[] },
): SqlText {
  const { from, where, bindings } = selectionOf(query, { dialect });
  const named = columns.map(({ sql }, index) => `${sql} as c${index}`).join(', ');
  return {
    sql: `select * from (select distinct ${named} from ${from} where ${where}) v
      where c${columns.length - 1} is not null limit ?`,
    bindings: [...columns.flatMap(column => [...column.bindings]), ...bindings],
  };
}

function withLists({ keys, folds }: Group, lists: Lists): Group {
  const name = canonicalJson(keys);
  const single = folds.values();
  const all = Array.from({ length: folds.length + lists.size }, (_, index) => {
    const list = lists.get(index);
    return list === undefined ? (single.next().value ?? null) : (list.get(name) ?? []);
  });
  return { keys, folds: all };
}
