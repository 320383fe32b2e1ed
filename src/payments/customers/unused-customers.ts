import type { Handle } from '../../db/open.ts';
import { execute } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import { NO_CUSTOMER_ID } from '../model/session.ts';

/** Removes those of these customers that have no sessions left. For the retention of sessions. */
export async function removeUnusedCustomers(handle: Handle, ids: readonly (string | null)[]): Promise<void> {
  const named = [...new Set(ids)].filter(id => id !== null && id !== NO_CUSTOMER_ID);
  if (named.length === 0) return;
  await execute(
    handle,
    `delete from customers where id in (${placeholders(named.length)}) and not exists (
       select 1 from checkout_sessions s
       where s.organization_id = customers.organization_id and s.mode = customers.mode and s.customer_id = customers.id
     )`,
    named,
  );
}
