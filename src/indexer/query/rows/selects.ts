import { allOf, conditionsOf, selectionOf, TABLES } from '../entities.ts';
import { filterValue } from '../filter-value.ts';
import type { RowSelection } from '../query.ts';
import { BOUND } from './statement-cache.ts';

/**
 * What selects `columns` of the rows that are meant, to be followed by an order and a limit. A wallet's are those it
 * sent and those it received: as a union in an order, SQLite merges the two as they come, each row once, and goes no
 * further than the limit. `first` is how far each of the two is needed at most, in which order. `isShort` is of a walk
 * that need not be ended before its limit.
 */
export function selectsOf(
  selected: RowSelection,
  {
    columns,
    first,
    isShort,
  }: { columns: string; first?: { order: string; rows: bigint }; isShort?: boolean },
): { sql: string; bindings: unknown[] } {
  const { from } = TABLES[selected.entity];
  const { wallet } = selected;
  if (wallet === undefined) {
    const { where, bindings } = selectionOf(selected, isShort);
    return { sql: `select ${columns} from ${from} where ${where}`, bindings };
  }
  const sides = ['t.from_address = ?', 't.to_address = ?'].map(sql => {
    const wallets = { sql, bindings: [filterValue('blob', wallet)] };
    const { where, bindings } = allOf([...conditionsOf(selected), wallets]);
    const side = `select ${columns} from ${from} where ${where}`;
    if (first === undefined) return { sql: side, bindings };
    return {
      sql: `select * from (${side} order by ${first.order} limit ${BOUND})`,
      bindings: [...bindings, first.rows],
    };
  });
  return {
    sql: sides.map(({ sql }) => sql).join(' union '),
    bindings: sides.flatMap(({ bindings }) => bindings),
  };
}
