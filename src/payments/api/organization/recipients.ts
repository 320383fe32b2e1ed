import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { paymentsError } from '#contract/contracts/payments-errors.ts';
import { InvalidBody } from '#contract/contracts/violations.ts';
import type { Handle } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import { timestamp } from '#lib/clock.ts';
import { isReserved, RESERVED_RULE, tokenOf } from '../../model/payment-chain.ts';
import { type Recipient, verificationMessage } from '../../model/recipient.ts';
import { noteRecipientChange } from '../../notifications/store/recipient-notices.ts';
import { addRecipient } from '../../recipients/recipient-lock.ts';
import { isRecipientInUse, recipientOwnership } from '../../recipients/recipient-ownership.ts';
import { recipientStore } from '../../recipients/recipient-store.ts';
import type { ApiCaller, ApiHandlers, PaymentsContext } from '../gate/api-context.ts';
import { checkOwner } from '../gate/owner-only.ts';
import { nullableTimestamp, pagedList, resourceNotFound } from '../responses/answers.ts';

/** Verifies signatures of accounts and contracts. Sources: EIP-191, EIP-1271. */
export type VerifyAddressSignature = (input: {
  readonly chainId: number;
  readonly address: string;
  readonly message: string;
  readonly signature: string;
}) => Promise<boolean>;

/** Operations on recipients, each with one owner per chain (Decisions 136 to 139). */
export function recipientHandlers(
  { db, seals, clock, chains, publicUrl }: PaymentsContext,
  { verifySignature }: { verifySignature: VerifyAddressSignature },
) {
  const recipientBody = (recipient: Recipient): PaymentsSchemas['Recipient'] => ({
    object: 'recipient',
    id: recipient.id,
    mode: recipient.mode,
    chain_id: recipient.chainId,
    address: recipient.address,
    verified: recipient.proof !== null,
    verified_by: recipient.proof,
    verification_message: verificationMessage(recipient, publicUrl),
    created_at: timestamp(recipient.createdAt),
    verified_at: recipient.proof === null ? null : nullableTimestamp(recipient.provenAt),
  });

  return {
    async listRecipients({ query: { page, limit, chain_id: chainId } }, caller) {
      const recipients = await recipientStore(db).list(caller, { chainId }, { page, limit });
      return { status: 200, body: pagedList('/api/v1/recipients', recipients, recipientBody) };
    },

    createRecipient: ({ body }, caller) =>
      caller.commit(async handle => {
        checkOwner(caller);
        const at = { chainId: body.chain_id, address: body.address.toLowerCase() };
        const chain = chains.find(caller.mode, at.chainId);
        if (chain === undefined) {
          throw new InvalidBody('chain_id', `must be a chain that is configured for ${caller.mode} mode`);
        }
        if (isReserved(at.address)) throw new InvalidBody('address', RESERVED_RULE);
        if (tokenOf(chain, at.address) !== undefined) {
          throw new InvalidBody(
            'address',
            'must not be the contract of a token, because payments to it are lost',
          );
        }
        const store = recipientStore(handle);
        if ((await store.at(caller, at)) !== undefined) {
          const message = `The recipient ${at.address} on chain ${at.chainId} is already on the list.`;
          throw paymentsError('duplicate_resource', message, { param: 'address' });
        }
        const added = await addRecipient({ handle, seals, now: clock.now() }, caller, at);
        return { status: 201, body: recipientBody(added) };
      }),

    getRecipient: async ({ path }, caller) => ({
      status: 200,
      body: recipientBody(await recipientOf(db, caller, path.recipient_id)),
    }),

    deleteRecipient: ({ path: { recipient_id: id } }, caller) =>
      caller.commit(async handle => {
        checkOwner(caller);
        const recipient = await recipientOf(handle, caller, id);
        if (await isRecipientInUse(handle, recipient)) {
          throw paymentsError(
            'invalid_status_transition',
            'This recipient still has an active payment link, an active session or an open unmatched transfer.',
          );
        }
        const { chainId, address } = recipient;
        const change = { kind: 'removed', chainId, address } as const;
        await noteRecipientChange({ handle, seals, now: clock.now() }, caller, change);
        await recipientOwnership(handle).remove(recipient);
        return { status: 200, body: { object: 'recipient', id, deleted: true } as const };
      }),

    async verifyRecipient({ path: { recipient_id: id }, body: { signature } }, caller) {
      checkOwner(caller);
      const signed = await recipientOf(db, caller, id);
      const { chainId, address } = signed;
      const message = verificationMessage(signed, publicUrl);
      // The signature of a contract is verified over the network, which must not happen inside a transaction.
      const isSigned = await verifySignature({ chainId, address, message, signature });
      if (!isSigned) throw refusedSignature();
      const refused = refusedSignature();
      try {
        return await caller.commit(async handle => {
          const proven = await recipientOwnership(handle).proveBySignature(signed, clock.now());
          if (proven === undefined) throw refused;
          return { status: 200, body: recipientBody(proven) };
        });
      } catch (error) {
        // Replaces the nonce: a valid signature is used up even when it is refused.
        if (error === refused)
          await transaction(db, handle => recipientStore(handle).renewNonce(id, clock.now()));
        throw error;
      }
    },
  } satisfies ApiHandlers;
}

async function recipientOf(handle: Handle, caller: ApiCaller, id: string): Promise<Recipient> {
  const recipient = await recipientStore(handle).find(caller, id);
  if (recipient === undefined) throw resourceNotFound('recipient', id);
  return recipient;
}

/**
 * Refusal of a signature. The text is the same for every reason, so that it reveals nothing about other organizations.
 */
function refusedSignature(): InvalidBody {
  return new InvalidBody(
    'signature',
    "must be the signature of the current 'verification_message' by 'address'; if it is, read the message again or ask the operator of the service",
  );
}
