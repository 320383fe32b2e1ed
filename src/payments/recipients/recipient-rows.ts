import type { Binding } from '../../db/columns.ts';
import { booleanOf } from '../../db/columns.ts';
import type { Mode } from '../model/owner.ts';
import type { Recipient, RecipientProof } from '../model/recipient.ts';

/** Row of `recipients`. */
export interface RecipientRow {
  id: string;
  organization_id: string;
  mode: Mode;
  chain_id: number;
  address: string;
  is_owner: number | boolean;
  proof: RecipientProof | null;
  proven_at: number | null;
  nonce: string;
  nonce_issued_at: number;
  created_at: number;
}

/** A whole recipient, by column. */
export function recipientValues(recipient: Recipient) {
  return {
    id: recipient.id,
    organization_id: recipient.organizationId,
    mode: recipient.mode,
    chain_id: recipient.chainId,
    address: recipient.address,
    is_owner: recipient.isOwner,
    proof: recipient.proof,
    proven_at: recipient.provenAt,
    nonce: recipient.nonce,
    nonce_issued_at: recipient.nonceIssuedAt,
    created_at: recipient.createdAt,
  } satisfies Record<keyof RecipientRow, Binding>;
}

/** The recipient in a row. */
export function recipientOf(row: RecipientRow): Recipient {
  return {
    id: row.id,
    organizationId: row.organization_id,
    mode: row.mode,
    chainId: row.chain_id,
    address: row.address,
    isOwner: booleanOf(row.is_owner),
    proof: row.proof,
    provenAt: row.proven_at,
    nonce: row.nonce,
    nonceIssuedAt: row.nonce_issued_at,
    createdAt: row.created_at,
  };
}
