import { getAddress } from 'viem';
import type { Handle } from '../../db/open.ts';
import { CURRENT_FACTORY, forwarderAddress } from '../../deposits/deposit-factory.ts';
import { type DepositRules, permitsDepositAddress } from '../model/payment-chain.ts';
import type { DepositAddress, Recipient } from '../model/recipient.ts';
import type { CheckoutSession } from '../model/session.ts';
import type { Seals } from '../secrets/sealed.ts';
import { depositAddressStore } from './deposit-address-store.ts';
import { depositNumbers } from './deposit-numbers.ts';
import { isBelowLimit } from './unswept-limit.ts';

/** The facts of a coming session by which an address is issued. */
type Order = Pick<
  CheckoutSession,
  | 'id'
  | 'organizationId'
  | 'mode'
  | 'chainId'
  | 'tokenAddress'
  | 'recipientAddress'
  | 'amount'
  | 'clientReferenceId'
  | 'createdAt'
> & {
  /** Undefined when it is to have none. */
  readonly depositRules?: DepositRules | undefined;
};

/**
 * Issues a deposit address for a session, in its transaction (Decision 396). Undefined when the rules do not permit
 * one, when too much money is not swept, and when the recipient is not the organization's own, or not proven for live payments.
 */
export async function issueDepositAddress(
  { handle, seals }: { readonly handle: Handle; readonly seals: Seals },
  order: Order,
  recipient: Pick<Recipient, 'isOwner' | 'proof'>,
): Promise<DepositAddress | undefined> {
  const { isOwner, proof } = recipient;
  const isProven = order.mode === 'test' || proof !== null;
  const { depositRules: rules } = order;
  if (!isOwner || !isProven || rules === undefined || !permitsDepositAddress(rules, order.tokenAddress))
    return undefined;
  const { organizationId, mode, chainId, tokenAddress, recipientAddress, createdAt } = order;
  if (!(await isBelowLimit({ handle, seals, now: createdAt }, order, rules))) return undefined;
  const numbered = await depositNumbers(handle).next(organizationId, createdAt);
  const forwarder = { recipient: getAddress(recipientAddress), salt: numbered.salt };
  const issued: DepositAddress = {
    address: forwarderAddress(forwarder).toLowerCase(),
    organizationId,
    mode,
    chainId,
    tokenAddress,
    recipientAddress,
    factoryVersion: CURRENT_FACTORY.version,
    ...numbered,
    sessionId: order.id,
    amount: order.amount,
    clientReferenceId: order.clientReferenceId,
    createdAt,
    amountReceived: 0n,
    amountSwept: 0n,
  };
  await depositAddressStore(handle).insert(issued);
  return issued;
}
