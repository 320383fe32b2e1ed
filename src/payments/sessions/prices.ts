import { uintColumn } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { rowsOf, type Sql } from '../../db/query.ts';
import type { DepositAddress } from '../model/deposit-address.ts';
import { bindingsOf, OF_PLACE } from './candidates.ts';

/** A place of one organization. */
export type OwnPlace = DepositAddress & { readonly organizationId: string };

/** Columns of a link that payers send without being asked for it. */
const LINK_PRICES = ['amount', 'min_amount', 'max_amount', 'suggested_amount'] as const;

/**
 * Statements that select, as `amount`, the prices that an organization's open sessions and active links have at a
 * place; of sessions only those that are not round (`isRound`). `condition` narrows a column, which is SQL. Prices of
 * another organization are left out, so that it cannot keep payments from their session.
 */
export function priceSources(place: OwnPlace, condition: (column: string) => Sql): Sql[] {
  const select = (table: string, column: string, isOpen: string): Sql => {
    const { sql, bindings } = condition(column);
    return {
      sql: `select ${column} as amount from ${table} where ${isOpen} and ${OF_PLACE} and ${sql} and organization_id = ?`,
      bindings: [...bindingsOf(place), ...bindings, place.organizationId],
    };
  };
  return [
    // As the index has it: the amounts that are compared are never round.
    select('checkout_sessions', 'amount', "status = 'active' and not is_price_round"),
    ...LINK_PRICES.map(column => select('payment_links', column, 'is_active')),
  ];
}

/** True when an open session or an active link of the organization has this price, not a round one, at the place. */
export async function isPrice(handle: Handle, place: OwnPlace, amount: bigint): Promise<boolean> {
  const sources = priceSources(place, column => ({
    // An equality, put into the condition of the partial index, would hide that index.
    sql: `${column} >= ? and ${column} <= ?`,
    bindings: [uintColumn(amount), uintColumn(amount)],
  }));
  const rows = await rowsOf(
    handle,
    `${sources.map(source => source.sql).join(' union all ')} limit 1`,
    sources.flatMap(source => [...source.bindings]),
  );
  return rows.length > 0;
}
