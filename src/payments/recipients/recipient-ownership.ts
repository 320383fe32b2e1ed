import type { Transaction } from '../../db/open.ts';
import { execute, rowsOf } from '../../db/query.ts';
import { newNonce, type Recipient, type RecipientProof } from '../model/recipient.ts';
import { recipientStore } from './recipient-store.ts';

/**
 * Changes of the owner of an address on a chain and of everything that depends on it. Each address has one owner per
 * chain (Decision 136).
 */
export interface RecipientOwnership {
  /** Makes a recipient the owner by a proof, in place of any other owner. Replaces its nonce. */
  prove(recipient: Recipient, proof: RecipientProof, now: number): Promise<Recipient>;
  /**
   * Proves a recipient by a signature over its nonce. Returns undefined and changes nothing when
   * - the nonce has been replaced,
   * - another organization proved its ownership after the nonce was issued, or
   * - the operator decided for another organization.
   */
  proveBySignature(signed: Recipient, now: number): Promise<Recipient | undefined>;
  /**
   * Withdraws the proof of an owner, which from then on holds the address provisionally. `provenAt` is kept, so a
   * signature over an older nonce stays invalid.
   */
  withdrawProof(recipient: Recipient): Promise<void>;
  /** Deletes a recipient. The next owner is the organization that named the address first among the remaining ones. */
  remove(recipient: Recipient): Promise<void>;
}

export function recipientOwnership(handle: Transaction): RecipientOwnership {
  const store = recipientStore(handle);

  const prove: RecipientOwnership['prove'] = async (recipient, proof, now) => {
    const owner = await store.ownerOf(recipient);
    const proven: Recipient = {
      ...recipient,
      isOwner: true,
      proof,
      provenAt: now,
      nonce: newNonce(),
      nonceIssuedAt: now,
    };
    if (owner !== undefined && owner.id !== recipient.id) {
      await handle('recipients')
        .where({ id: owner.id })
        .update({ is_owner: false, proof: null, proven_at: null });
    }
    await handle('recipients')
      .where({ id: recipient.id })
      .update({ is_owner: true, proof, proven_at: now, nonce: proven.nonce, nonce_issued_at: now });
    if (owner?.id !== recipient.id) await moveTo(handle, proven);
    return proven;
  };

  return {
    prove,

    async proveBySignature(signed, now) {
      const recipient = await store.find(signed, signed.id);
      if (recipient === undefined || recipient.nonce !== signed.nonce) return undefined;
      const owner = await store.ownerOf(recipient);
      if (owner === undefined || owner.id === recipient.id) {
        // A proof by the operator is never replaced by a signature.
        return prove(recipient, owner?.proof === 'operator' ? 'operator' : 'signature', now);
      }
      const isOutdated = owner.provenAt !== null && recipient.nonceIssuedAt < owner.provenAt;
      return owner.proof === 'operator' || isOutdated ? undefined : prove(recipient, 'signature', now);
    },

    async withdrawProof({ id }) {
      await handle('recipients').where({ id }).update({ proof: null });
    },

    async remove(recipient) {
      await handle('recipients').where({ id: recipient.id }).delete();
      const [next] = await store.allAt(recipient);
      if (!recipient.isOwner || next === undefined) return;
      await handle('recipients').where({ id: next.id }).update({ is_owner: true });
      await moveTo(handle, next);
    },
  };
}

/** True while an active link, an active session or an open unmatched transfer of the organization is at the address. */
export async function isRecipientInUse(handle: Transaction, recipient: Recipient): Promise<boolean> {
  const { organizationId, mode, chainId, address } = recipient;
  const of = (table: string, column: string, isOpen: string) =>
    `select 1 as used from ${table}
     where organization_id = ? and mode = ? and chain_id = ? and ${column} = ? and ${isOpen}`;
  const sql = [
    of('payment_links', 'recipient_address', 'is_active'),
    of('checkout_sessions', 'recipient_address', "status = 'active'"),
    of(
      'unmatched_transfers',
      'recipient',
      'assigned_at is null and dismissed_at is null and amount_refunded <> amount',
    ),
  ].join(' union all ');
  const bindings = [organizationId, mode, chainId, address];
  const rows = await rowsOf(handle, `${sql} limit 1`, [...bindings, ...bindings, ...bindings]);
  return rows.length > 0;
}

/**
 * Gives the owner the open unmatched transfers to its address. Sessions of other organizations can then be paid by a
 * signed wallet only.
 */
async function moveTo(handle: Transaction, owner: Recipient): Promise<void> {
  const { organizationId, mode, chainId, address } = owner;
  const ofOthers = 'not (organization_id = ? and mode = ?)';
  const at = [chainId, address, organizationId, mode];
  await execute(
    handle,
    `delete from unmatched_transfers
     where chain_id = ? and recipient = ? and ${ofOthers} and assigned_at is null and exists (
       select 1 from unmatched_transfers kept
       where kept.chain_id = unmatched_transfers.chain_id and kept.tx_hash = unmatched_transfers.tx_hash
         and kept.log_index = unmatched_transfers.log_index and kept.organization_id = ? and kept.mode = ?
     )`,
    [...at, organizationId, mode],
  );
  await execute(
    handle,
    `update unmatched_transfers set organization_id = ?, mode = ?, suggested_session_id = null
     where chain_id = ? and recipient = ? and ${ofOthers} and assigned_at is null`,
    [organizationId, mode, ...at],
  );
  await execute(
    handle,
    `update checkout_sessions set is_wallet_only = true
     where chain_id = ? and recipient_address = ? and ${ofOthers} and status = 'active' and not is_wallet_only`,
    at,
  );
}
