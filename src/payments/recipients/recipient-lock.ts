import type { Handle } from '../../db/open.ts';
import type { DepositAddress } from '../model/deposit-address.ts';
import { type FieldError, notNow } from '../model/fault.ts';
import type { Owner } from '../model/owner.ts';
import type { ChainAddress } from '../model/recipient.ts';
import { organizationSettingsStore } from '../store/organization-settings-store.ts';
import { recipientStore } from './recipient-store.ts';

/** True when links and sessions of the organization may name the address. Decision 138. */
export async function mayName(handle: Handle, owner: Owner, at: ChainAddress): Promise<boolean> {
  if ((await recipientStore(handle).at(owner, at)) !== undefined) return true;
  return !(await organizationSettingsStore(handle).find(owner)).recipientsLocked;
}

/** Why no session of a link may start: its recipient was removed from a locked list. Undefined when one may. */
export async function lockFault(
  handle: Handle,
  { organizationId, mode, chainId, recipientAddress }: Owner & DepositAddress,
): Promise<FieldError | undefined> {
  const isNamed = await mayName(handle, { organizationId, mode }, { chainId, address: recipientAddress });
  return isNamed
    ? undefined
    : notNow('Payments to the recipient of the payment link are not taken any more.');
}
