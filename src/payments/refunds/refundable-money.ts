import type { Handle } from '../../db/open.ts';
import type { PaidAddress } from '../model/payment-chain.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import { type DestinationSource, isProved, type RefundedMoney, type StatedAddress } from '../model/refund.ts';
import type { CheckoutSession } from '../model/session.ts';
import type { UnmatchedTransfer } from '../model/transfer.ts';
import { transactionStore } from '../store/transaction-store.ts';
import { refundAddressStore } from './refund-address-store.ts';
import { refundStore } from './refund-store.ts';

/** An address to which money can be sent back. */
export interface KnownDestination {
  readonly address: string;
  readonly source: DestinationSource;
  /** Address that the payer stated before this one; null when there was none. */
  readonly previousAddress: string | null;
}

/** Confirmed money, the part of it that refunds have reserved or sent, and its known destinations, the safest first. */
export interface RefundableMoney extends RefundedMoney, PaidAddress {
  /** That of the session; null without one. */
  readonly depositAddress: string | null;
  readonly received: bigint;
  readonly reserved: bigint;
  /** Part that can still be refunded. Less than `received - reserved` if other refunds of the session need it. */
  readonly refundable: bigint;
  readonly destinations: readonly KnownDestination[];
}

/** Money of a session, or of one of its completed transactions (Decision 350). */
export async function moneyOfSession(
  handle: Handle,
  session: CheckoutSession,
  transaction?: PaymentTransaction,
): Promise<RefundableMoney> {
  const refunds = refundStore(handle);
  const all = await transactionStore(handle).ofSession(session.id);
  const arrived = all.filter(({ status }) => status === 'completed');
  const ofSession = {
    received: sumOf(arrived),
    reserved: (await refunds.sums({ sessionId: session.id })).reserved,
  };
  const asked = transaction === undefined ? arrived : arrived.filter(({ id }) => id === transaction.id);
  const part =
    transaction === undefined
      ? ofSession
      : {
          received: sumOf(asked),
          reserved: (await refunds.sums({ transactionId: transaction.id })).reserved,
        };
  const free = [ofSession, part].map(({ received, reserved }) => received - reserved);
  const stated = statedBefore(asked, await refundAddressStore(handle).find(session.id));
  const signed = provesDestination(session.signedAddress, asked) ? 'signed_wallet' : 'payer';
  const { chainId, tokenAddress, recipientAddress, depositAddress } = session;
  return {
    chainId,
    tokenAddress,
    recipientAddress,
    depositAddress,
    sessionId: session.id,
    transactionId: transaction?.id ?? null,
    unmatchedTransferId: null,
    ...part,
    refundable: free.reduce((least, one) => (one < least ? one : least), part.received),
    destinations: withoutRepetition([
      ...statedAs(stated, 'payer_signature'),
      ...(signed === 'signed_wallet' ? destinationAt(session.signedAddress, signed) : []),
      ...statedAs(stated, 'payer_email'),
      ...statedAs(stated, 'payer'),
      ...(signed === 'payer' ? destinationAt(session.signedAddress, signed) : []),
      ...asked.flatMap(({ sender }) => destinationAt(sender, 'sender')),
    ]),
  };
}

/** Money of an unmatched transfer (Decision 350). */
export async function moneyOfTransfer(handle: Handle, transfer: UnmatchedTransfer): Promise<RefundableMoney> {
  const { id, chainId, tokenAddress, recipient, amount: received, sender } = transfer;
  const { reserved } = await refundStore(handle).sums({ unmatchedTransferId: id });
  return {
    chainId,
    tokenAddress,
    recipientAddress: recipient,
    depositAddress: null,
    sessionId: null,
    transactionId: null,
    unmatchedTransferId: id,
    received,
    reserved,
    refundable: received - reserved,
    destinations: destinationAt(sender, 'sender'),
  };
}

/** The destination of a refund that names none: the first one that the payer has proved. */
export function provedDestination({ destinations }: RefundableMoney): KnownDestination | undefined {
  return destinations.find(({ source }) => isProved(source));
}

function destinationAt(address: string | null, source: DestinationSource): KnownDestination[] {
  return address === null ? [] : [{ address, source, previousAddress: null }];
}

/**
 * True when the signature of a wallet proves where these payments are sent back (Decision 488): it sent all of them, or it
 * signed before the others came. After a payment that was assigned, or came to a deposit address, anyone may have signed.
 */
export function provesDestination(wallet: string | null, payments: readonly PaymentTransaction[]): boolean {
  return payments.every(
    ({ sender, matchedBy }) =>
      sender === wallet || (matchedBy !== 'assignment' && matchedBy !== 'deposit_address'),
  );
}

/** The statement of a payer, whose signature proves nothing about payments that completed after it. */
function statedBefore(
  payments: readonly PaymentTransaction[],
  stated: StatedAddress | undefined,
): StatedAddress | undefined {
  if (stated === undefined || stated.isByEmail) return stated;
  const { statedAt } = stated;
  const isBefore = payments.every(({ completedAt }) => completedAt !== null && completedAt <= statedAt);
  return { ...stated, isProved: stated.isProved && isBefore };
}

/** The stated address if this is its source. */
function statedAs(stated: StatedAddress | undefined, source: DestinationSource): KnownDestination[] {
  if (stated === undefined) return [];
  const { address, previousAddress, isProved: hasProof, isByEmail } = stated;
  const proof = isByEmail ? 'payer_email' : 'payer_signature';
  return source === (hasProof ? proof : 'payer') ? [{ address, source, previousAddress }] : [];
}

function withoutRepetition(destinations: readonly KnownDestination[]): KnownDestination[] {
  return destinations.filter(
    ({ address }, index) => destinations.findIndex(one => one.address === address) === index,
  );
}

function sumOf(transactions: readonly PaymentTransaction[]): bigint {
  return transactions.reduce((sum, { amount }) => sum + amount, 0n);
}
