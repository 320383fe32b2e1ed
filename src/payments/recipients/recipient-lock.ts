import { InvalidBody } from '../../contract/contracts/violations.ts';
import type { Handle, Transaction } from '../../db/open.ts';
import { type FieldError, notNow } from '../model/fault.ts';
import type { Owner } from '../model/owner.ts';
import type { PaidAddress } from '../model/payment-chain.ts';
import type { ChainAddress, Recipient } from '../model/recipient.ts';
import { noteRecipientChange } from '../notifications/store/recipient-notices.ts';
import type { Seals } from '../secrets/sealed.ts';
import { organizationSettingsStore, organizationStore } from '../store/organization-store.ts';
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

/** Names a recipient. Of members, only owners decide where money goes; programs go by the lock of the list. */
interface NamingCaller extends Owner {
  readonly kind: 'api_key' | 'member';
  readonly isOwner: boolean;
  /** True for a member whom a passkey has to confirm first (Decision 417). */
  readonly mustConfirm: boolean;
}

/**
 * Adds the recipient of a link or a session to the list. A new one is mailed to the merchant.
 * @throws InvalidBody when the list has no such recipient and is locked (Decision 138), or the caller is a member who is
 * no owner (Decision 413)
 */
export async function nameRecipient(
  handle: Transaction,
  caller: NamingCaller,
  {
    destination,
    seals,
    now,
  }: { destination: Pick<PaidAddress, 'chainId' | 'recipientAddress'>; seals: Seals; now: number },
): Promise<void> {
  const at = { chainId: destination.chainId, address: destination.recipientAddress };
  const mayAdd = caller.kind === 'api_key' || (caller.isOwner && !caller.mustConfirm);
  if (!mayAdd && !(await isApproved(handle, caller, at))) {
    throw new InvalidBody('recipient_address', 'must be on the list of recipients: an owner can add it');
  }
  if (!(await mayName(handle, caller, at))) {
    throw new InvalidBody(
      'recipient_address',
      'must be on the list of recipients, which is locked: an admin key can add it',
    );
  }
  await addRecipient({ handle, seals, now }, caller, at);
}

/** True for a recipient on the list, and for the default one, which only owners change. */
async function isApproved(handle: Handle, owner: Owner, at: ChainAddress): Promise<boolean> {
  if ((await recipientStore(handle).at(owner, at)) !== undefined) return true;
  return (await organizationStore(handle).profile(owner)).defaults.recipientAddress === at.address;
}

/** Most added recipients per hour that are mailed, because each is a mail. */
const MAILED_PER_HOUR = 20;
const HOUR_MS = 3_600_000;

/** Adds a recipient to the list, unless it has it, and mails a new one to the merchant (Decision 138). */
export async function addRecipient(
  scope: { readonly handle: Transaction; readonly seals: Seals; readonly now: number },
  owner: Owner,
  at: ChainAddress,
): Promise<Recipient> {
  const { handle, now } = scope;
  const store = recipientStore(handle);
  const known = await store.at(owner, at);
  if (known !== undefined) return known;
  if ((await store.countSince(owner, now - HOUR_MS)) < MAILED_PER_HOUR)
    await noteRecipientChange(scope, owner, { kind: 'added', ...at });
  return store.name(owner, at, now);
}
