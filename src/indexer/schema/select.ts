import { selectFrom } from '../../db/select/select.ts';
import { type IndexTables, TABLES } from './tables.ts';

/** Describes a `select` over tables of an index, with rows of the type that its columns have. */
export const select = selectFrom<IndexTables>(TABLES);

/** Same for statements that begin with tables of their own, in a `with`. */
export function selectWith<Own extends object>() {
  return selectFrom<IndexTables & Own>(TABLES);
}
