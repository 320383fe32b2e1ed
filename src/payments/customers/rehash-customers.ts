import type { Db } from '../../db/open.ts';
import { execute } from '../../db/query.ts';
import { lockedTransaction } from '../../db/transaction.ts';
import { SealError, type Seals } from '../secrets/sealed.ts';
import { customerOf, customerRows, emailHashes } from './customer-rows.ts';

const BATCH = 100;

/**
 * Hashes the email addresses of all customers again with the current key, so that they are found when an older key is no
 * longer configured. An address that no known key opens keeps its hash.
 */
export async function rehashCustomers(db: Db, seals: Seals): Promise<void> {
  let after = '';
  for (;;) {
    const rows = await customerRows.rows(db, 'where id > ? and email_hash is not null order by id limit ?', [
      after,
      BATCH,
    ]);
    const last = rows.at(-1);
    if (last === undefined) return;
    await lockedTransaction(db, async handle => {
      for (const row of rows) {
        const hash = currentHash(row, seals);
        if (hash === undefined || hash === row.email_hash) continue;
        // A customer with the same address may have been created meanwhile, which then has the hash.
        await execute(
          handle,
          `update customers set email_hash = ? where id = ? and not exists (
             select 1 from customers c where c.organization_id = customers.organization_id
               and c.mode = customers.mode and c.email_hash = ?
           )`,
          [hash, row.id, hash],
        );
      }
    });
    after = last.id;
  }
}

function currentHash(row: Parameters<typeof customerOf>[0], seals: Seals): string | undefined {
  try {
    const { email } = customerOf(row, seals);
    return email === null ? undefined : emailHashes(email, seals)[0];
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    return undefined;
  }
}
