import { jsonOf } from '../../db/columns.ts';
import type { CustomerRecord } from '../model/session.ts';
import type { SealedCell, Seals } from '../secrets/sealed.ts';
import { recordForm } from '../tables/record-form.ts';
import { select } from '../tables/select.ts';
import type { CustomerRow } from '../tables/session-tables.ts';

/** Encrypted part of a customer's row. */
type CustomerContact = Pick<CustomerRecord, 'email' | 'name'>;

/** All columns of customers. */
export const customerRows = select({ from: 'customers', columns: ['*'] });

const form = recordForm<Omit<CustomerRecord, keyof CustomerContact>>({
  id: 'plain',
  organizationId: 'plain',
  mode: 'plain',
  walletAddress: 'plain',
  lastPurchaseAt: 'plain',
  createdAt: 'plain',
  updatedAt: 'plain',
});

/** Converts a row to a customer. @throws SealError */
export function customerOf(row: CustomerRow, seals: Seals): CustomerRecord {
  return { ...form.recordOf(row), ...contactOf(row, seals) };
}

function contactOf(
  { id, sealed_contact: sealed }: Pick<CustomerRow, 'id' | 'sealed_contact'>,
  seals: Seals,
): CustomerContact {
  return sealed === null
    ? { email: null, name: null }
    : jsonOf<CustomerContact>(seals.open(sealed, cellOf(id)));
}

/** The encrypted part as it is stored. */
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
