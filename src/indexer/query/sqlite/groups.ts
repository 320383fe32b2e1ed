import type { Fold, Value } from '#query-model/expression.ts';
import { type CompileContext, compile } from '../compile.ts';
import { foldColumn, type GroupColumn, keyColumns, RoundedInteger, readGroups, realOf } from '../groups.ts';
import type { GroupsAnswer, GroupsQuery } from '../query.ts';
import type { CompiledExpression, QuerySession } from '../query-dialect.ts';
import { integerOf, type ListsSize } from './functions.ts';

/**
 * Groups the rows of a query. `lists` is the result of `registerFunctions`, which must have run before.
 * @throws QueryTooLarge when the answer exceeds the query's limit or the maximum length
 */
export async function sqliteGroups(
  session: QuerySession,
  query: GroupsQuery,
  lists: ListsSize,
): Promise<GroupsAnswer> {
  try {
    return await run(session, { query, lists, trustsIntegers: true });
  } catch (error) {
    if (!isOverflow(error)) throw error;
    // Rare enough to repeat the work. SQLite's native integers are many times faster.
    return await run(session, { query, lists, trustsIntegers: false });
  }
}

function isOverflow(error: unknown): boolean {
  return error instanceof RoundedInteger || (error instanceof Error && error.message === 'integer overflow');
}

async function run(
  session: QuerySession,
  { query, lists, trustsIntegers }: { query: GroupsQuery; lists: ListsSize; trustsIntegers: boolean },
): Promise<GroupsAnswer> {
  Object.assign(lists, { values: 0, characters: 0, mostValues: query.limit } satisfies ListsSize);
  const compiling = { entity: query.entity, dialect: session.dialect, trustsIntegers };
  const keys = keyColumns(query, compiling);
  const folds = query.folds.map(fold => columnOfFold(fold, compiling));
  return { groups: await readGroups(session, query, { keys, folds, lists }) };
}

/** Column of a fold. Lists are counted while they grow, and are returned as JSON. */
function columnOfFold(fold: Fold, compiling: CompileContext): GroupColumn {
  if (fold.kind !== 'distinct') return foldColumn(fold, compiling);
  const compiled = compile(fold.of, compiling);
  const { sql, bindings } = compiled;
  return { sql: `value_list(distinct ${sql})`, bindings, read: list => listIn(compiled, list) };
}

function listIn({ form }: CompiledExpression, list: unknown): readonly Value[] {
  const texts: unknown = JSON.parse(String(list));
  if (!Array.isArray(texts)) throw new TypeError('Expected a JSON list of values.');
  return texts.map(text => listed(form, String(text)));
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
