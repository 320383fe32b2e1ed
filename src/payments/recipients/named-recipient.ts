import { InvalidBody } from '../../contract/contracts/violations.ts';
import type { Transaction } from '../../db/open.ts';
import type { DepositAddress } from '../model/deposit-address.ts';
import type { Owner } from '../model/owner.ts';
import { mayName } from './recipient-lock.ts';
import { recipientStore } from './recipient-store.ts';

/** Puts the recipient of a link or a session on the list. @throws InvalidBody when the list is locked (Decision 138) */
export async function nameRecipient(
  handle: Transaction,
  owner: Owner,
  { place, now }: { place: Pick<DepositAddress, 'chainId' | 'recipientAddress'>; now: number },
): Promise<void> {
  const at = { chainId: place.chainId, address: place.recipientAddress };
  if (!(await mayName(handle, owner, at))) {
    throw new InvalidBody(
      'recipient_address',
      'must be on the list of recipients, which is locked: an admin key can add it',
    );
  }
  await recipientStore(handle).name(owner, at, now);
}
