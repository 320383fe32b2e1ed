import type { Binding } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { placeholders } from '../../db/rows.ts';
import { newId } from '../../lib/ids.ts';
import type { Owner } from '../model/owner.ts';
import { type CheckoutSession, type CustomerRecord, NO_CUSTOMER_ID } from '../model/session.ts';
import { SealError, type Seals } from '../secrets/sealed.ts';
import { ownedRow } from '../store/list-query.ts';
import { select } from '../tables/select.ts';
import type { CustomerRow } from '../tables/session-tables.ts';
import { customerOf, customerRows, emailHashes, sealedContact } from './customer-rows.ts';

/** Facts of a session that identify its customer. */
type Payer = Owner & Pick<CheckoutSession, 'customerId' | 'customerEmail' | 'signedAddress'>;

/** Facts of a completed session that its customer gets. */
type Purchase = Payer & Pick<CheckoutSession, 'customerName' | 'payerAddress' | 'completedAt'>;

const IS_OWN = 'organization_id = ? and mode = ?';

/** Customers (Decision 438). Needs a transaction to write. */
export function customerStore(handle: Handle, seals: Seals) {
  const idWhere = async (condition: string, bindings: readonly Binding[]): Promise<string | undefined> => {
    const [row] = await select({ from: 'customers', columns: ['id'] }).rows(
      handle,
      `where ${condition}`,
      bindings,
    );
    return row?.id;
  };
  const idByEmail = ({ organizationId, mode }: Owner, email: string) => {
    const hashes = emailHashes(email, seals);
    const condition = `${IS_OWN} and email_hash in (${placeholders(hashes.length)})`;
    return idWhere(condition, [organizationId, mode, ...hashes]);
  };
  const idByWallet = ({ organizationId, mode }: Owner, wallet: string) =>
    idWhere(`${IS_OWN} and wallet_address = ?`, [organizationId, mode, wallet]);

  const inserted = async (
    { organizationId, mode }: Owner,
    { email = null, wallet = null }: { email?: string | null; wallet?: string | null },
    now: number,
  ): Promise<string> => {
    const id = newId('cust');
    const rows = await handle('customers')
      .insert({
        id,
        organization_id: organizationId,
        mode,
        email_hash: email === null ? null : emailHashes(email, seals)[0],
        wallet_address: wallet,
        sealed_contact: email === null ? null : sealedContact(id, { email, name: null }, seals),
        last_purchase_at: null,
        created_at: now,
        updated_at: now,
      })
      .onConflict()
      .ignore()
      .returning('id');
    return rows[0]?.id ?? NO_CUSTOMER_ID;
  };

  const isBeingErased = async (id: string) => {
    const rows = await select({ from: 'customer_erasures', columns: ['mode'] }).rows(
      handle,
      'where customer_id = ?',
      [id],
    );
    return rows.length === 1;
  };

  return {
    idByEmail,

    async find(owner: Owner, id: string): Promise<CustomerRecord | undefined> {
      const { sql, bindings } = ownedRow(owner, id);
      const [row] = await customerRows.rows(handle, `where ${sql}`, bindings);
      return row && customerOf(row, seals);
    },

    /**
     * Id of a session's customer: the one with its email address, else with the wallet that signed. Creates a missing one,
     * and changes none: what is typed proves nothing. `NO_CUSTOMER_ID` when the session has neither. A session of a customer
     * who is being erased keeps it, until it is erased too.
     */
    async identify(payer: Payer, now: number): Promise<string> {
      const { customerId, customerEmail: email, signedAddress: wallet } = payer;
      if (customerId && (await isBeingErased(customerId))) return customerId;
      if (email !== null) return (await idByEmail(payer, email)) ?? inserted(payer, { email }, now);
      if (wallet === null) return NO_CUSTOMER_ID;
      return (await idByWallet(payer, wallet)) ?? inserted(payer, { wallet }, now);
    },

    /** Gives a customer the name and the wallet of a completed session. */
    async recordPurchase(session: Purchase): Promise<void> {
      const { customerId: id, completedAt } = session;
      if (id === null || id === NO_CUSTOMER_ID || completedAt === null) return;
      const [row] = await customerRows.rows(handle, 'where id = ?', [id]);
      if (row === undefined) return;
      const isLatest = row.last_purchase_at === null || completedAt >= row.last_purchase_at;
      const contact = isLatest ? renamedContact(row, session.customerName, seals) : undefined;
      const wallet = row.wallet_address === null ? payingWallet(session) : null;
      const isFree = wallet !== null && (await idByWallet(session, wallet)) === undefined;
      await handle('customers')
        .where({ id })
        .update({
          ...(contact !== undefined && { sealed_contact: contact, updated_at: completedAt }),
          ...(isFree && { wallet_address: wallet, updated_at: completedAt }),
          last_purchase_at: isLatest ? completedAt : row.last_purchase_at,
        });
    },
  };
}

/** The wallet that signed for a session and was the last to pay it; null when these differ. */
function payingWallet({ signedAddress, payerAddress }: Purchase): string | null {
  return signedAddress === payerAddress ? signedAddress : null;
}

/** A customer's contact with another name, as it is stored; undefined when nothing changes. */
function renamedContact(row: CustomerRow, name: string | null, seals: Seals): string | undefined {
  if (name === null) return undefined;
  try {
    const { email, name: before } = customerOf(row, seals);
    return name === before ? undefined : sealedContact(row.id, { email, name }, seals);
  } catch (error) {
    // The money must be settled although the key of the contact is lost.
    if (!(error instanceof SealError)) throw error;
    return undefined;
  }
}
