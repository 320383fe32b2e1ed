import type { Db } from '../../db/open.ts';
import { execute } from '../../db/query.ts';
import { transaction } from '../../db/transaction.ts';
import { customerStore } from '../customers/customer-store.ts';
import type { Owner } from '../model/owner.ts';
import { SealError, type Seals } from '../secrets/sealed.ts';
import { ownedBy } from '../store/list-query.ts';
import { select } from '../tables/select.ts';
import { sessionOf } from './session-rows.ts';

/**
 * Finds the customers of sessions that an older version opened, of one owner or of all, so that they are found by email
 * address too. Returns the number of sessions.
 */
export function identifyCustomers(
  db: Db,
  seals: Seals,
  { limit, owner }: { readonly limit: number; readonly owner?: Owner | undefined },
): Promise<number> {
  const isOwn = owner === undefined ? { sql: '1 = 1', bindings: [] } : ownedBy(owner);
  return transaction(db, async handle => {
    const customers = customerStore(handle, seals);
    const rows = await select({ from: 'checkout_sessions', columns: ['*'] }).rows(
      handle,
      `where customer_id is null and ${isOwn.sql} limit ?`,
      [...isOwn.bindings, limit],
    );
    for (const row of rows) {
      const session = readable(row);
      const customerId = await customers.identify(session, row.created_at);
      const since = 'update customers set created_at = ? where id = ? and created_at > ?';
      await execute(handle, since, [row.created_at, customerId, row.created_at]);
      await execute(handle, 'update checkout_sessions set customer_id = ? where id = ?', [
        customerId,
        row.id,
      ]);
      await customers.recordPurchase({ ...session, customerId });
    }
    return rows.length;
  });

  /** A session whose data was sealed with a lost key has no email address. */
  function readable(row: Parameters<typeof sessionOf>[0]) {
    try {
      return sessionOf(row, seals);
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      return sessionOf({ ...row, sealed_customer: null }, seals);
    }
  }
}
