import { InvalidBody } from '../../contract/contracts/violations.ts';
import type { Handle, Transaction } from '../../db/open.ts';
import { type FieldError, notNow } from '../model/fault.ts';
import type { Owner } from '../model/owner.ts';
import type { PaidAddress } from '../model/payment-chain.ts';
import type { ChainAddress } from '../model/recipient.ts';
import { organizationSettingsStore } from '../store/organization-store.ts';
import { recipientStore } from './recipient-store.ts';

/**
 * True when links and sessions of the organization may use the address. A locked list allows only its own addresses
 * (Decision 138).
 */
async function mayName(handle: Handle, owner: Owner, at: ChainAddress): Promise<boolean> {
  if ((await recipientStore(handle).at(owner, at)) !== undefined) return true;
  return !(await organizationSettingsStore(handle).find(owner)).recipientsLocked;
}

/** Returns a fault when the link's recipient was removed from a locked list, and undefined when a session may start. */
export async function lockFault(
  handle: Handle,
  { organizationId, mode, chainId, recipientAddress }: Owner & PaidAddress,
): Promise<FieldError | undefined> {
  const isNamed = await mayName(handle, { organizationId, mode }, { chainId, address: recipientAddress });
  return isNamed
    ? undefined
    : notNow('Payments to the recipient of the payment link are no longer accepted.');
}

/**
 * Adds the recipient of a link or a session to the list.
 * @throws InvalidBody when the list is locked and has no such recipient (Decision 138)
 */
export async function nameRecipient(
  handle: Transaction,
  owner: Owner,
  { destination, now }: { destination: Pick<PaidAddress, 'chainId' | 'recipientAddress'>; now: number },
): Promise<void> {
  const at = { chainId: destination.chainId, address: destination.recipientAddress };
  if (!(await mayName(handle, owner, at))) {
    throw new InvalidBody(
      'recipient_address',
      'must be on the list of recipients, which is locked: an admin key can add it',
    );
  }
  await recipientStore(handle).name(owner, at, now);
}
