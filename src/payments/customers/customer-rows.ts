import { jsonOf } from '../../db/columns.ts';
import type { RowIn } from '../../db/select/select.ts';
import type { CustomerRecord } from '../model/session.ts';
import type { SealedCell, Seals } from '../secrets/sealed.ts';
import { select } from '../tables/select.ts';

/** Encrypted part of a customer's row. */
type CustomerContact = Pick<CustomerRecord, 'email' | 'name'>;

/** All columns of customers. */
export const customerRows = select({ from: 'customers', columns: ['*'] });

/** Converts a row to a customer. @throws SealError */
export function customerOf(row: RowIn<typeof customerRows>, seals: Seals): CustomerRecord {
  return {
    id: row.id,
    organizationId: row.organization_id,
    mode: row.mode,
    walletAddress: row.wallet_address,
    ...contactOf(row, seals),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function contactOf(
  { id, sealed_contact: sealed }: { id: string; sealed_contact: string | null },
  seals: Seals,
): CustomerContact {
  return sealed === null
    ? { email: null, name: null }
    : jsonOf<CustomerContact>(seals.open(sealed, cellOf(id)));
}

export function sealedContact(id: string, contact: CustomerContact, seals: Seals): string {
  return seals.seal(JSON.stringify(contact), cellOf(id));
}

function cellOf(id: string): SealedCell {
  return { table: 'customers', column: 'sealed_contact', id };
}

/**
 * Keyed hashes of an email address in any letter case, that with the current key first. A customer is found by any of
 * them, because rows keep the hash of the key with which they were written.
 */
export function emailHashes(email: string, seals: Seals): readonly [current: string, ...older: string[]] {
  return seals.hashes(email.trim().toLowerCase(), { table: 'customers', column: 'email_hash' });
}
