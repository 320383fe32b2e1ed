import type { Handle } from '../../db/open.ts';
import { execute } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import { newId } from '../../lib/ids.ts';
import type { Owner } from '../model/owner.ts';
import { type CheckoutSession, NO_CUSTOMER_ID } from '../model/session.ts';
import type { Seals } from '../secrets/sealed.ts';
import { customerOf, customerRows, emailHashes, sealedContact } from './customer-rows.ts';

/** Facts of a session that identify its customer. */
type Payer = Owner & Pick<CheckoutSession, 'customerEmail' | 'customerName' | 'signedAddress'>;

/** Customers. Needs a transaction to write. */
export function customerStore(handle: Handle, seals: Seals) {
  const byEmail = async ({ organizationId, mode }: Owner, email: string) => {
    const hashes = emailHashes(email, seals);
    const [row] = await customerRows.rows(
      handle,
      `where organization_id = ? and mode = ? and email_hash in (${placeholders(hashes.length)})`,
      [organizationId, mode, ...hashes],
    );
    return row && customerOf(row, seals);
  };
  const byWallet = async ({ organizationId, mode }: Owner, wallet: string) => {
    const [row] = await customerRows.rows(
      handle,
      'where organization_id = ? and mode = ? and wallet_address = ?',
      [organizationId, mode, wallet],
    );
    return row && customerOf(row, seals);
  };

  const inserted = async (owner: Owner, known: Known, now: number): Promise<string | undefined> => {
    const id = newId('cust');
    const { email = null, name = null, wallet = null } = known;
    const rows = await handle('customers')
      .insert({
        id,
        organization_id: owner.organizationId,
        mode: owner.mode,
        email_hash: email === null ? null : emailHashes(email, seals)[0],
        wallet_address: wallet,
        sealed_contact: email === null ? null : sealedContact(id, { email, name }, seals),
        created_at: now,
        updated_at: now,
      })
      .onConflict()
      .ignore()
      .returning('id');
    return rows[0]?.id;
  };

  const ofEmail = async (payer: Payer, email: string, now: number): Promise<string> => {
    const { customerName: name, signedAddress: wallet } = payer;
    const known = await byEmail(payer, email);
    if (known === undefined) return (await inserted(payer, { email, name }, now)) ?? NO_CUSTOMER_ID;
    if (name !== null && name !== known.name) {
      const contact = sealedContact(known.id, { email: known.email, name }, seals);
      const sql = 'update customers set sealed_contact = ?, updated_at = ? where id = ?';
      await execute(handle, sql, [contact, now, known.id]);
    }
    if (wallet !== null && known.walletAddress === null && (await byWallet(payer, wallet)) === undefined)
      await execute(handle, 'update customers set wallet_address = ? where id = ?', [wallet, known.id]);
    return known.id;
  };

  return {
    byEmail,

    /**
     * Id of a session's customer: the one with its email address, else with the wallet that signed. Creates a missing one.
     * `NO_CUSTOMER_ID` when the session has neither.
     */
    async identify(payer: Payer, now: number): Promise<string> {
      const { customerEmail: email, signedAddress: wallet } = payer;
      if (email !== null) return ofEmail(payer, email, now);
      if (wallet === null) return NO_CUSTOMER_ID;
      const known = await byWallet(payer, wallet);
      return known?.id ?? (await inserted(payer, { wallet }, now)) ?? NO_CUSTOMER_ID;
    },
  };
}

interface Known {
  readonly email?: string;
  readonly name?: string | null;
  readonly wallet?: string;
}
