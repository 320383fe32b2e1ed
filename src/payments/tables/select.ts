import type { Tables } from 'knex/types/tables.js';
import { selectFrom } from '#db/select/select.ts';

/** Describes a `select` over tables of the payments database, with rows of the type that its columns have. */
export const select = selectFrom<Tables>();

/** Same for statements that begin with tables of their own, in a `with`. */
export function selectWith<Own extends object>() {
  return selectFrom<Tables & Own>();
}
