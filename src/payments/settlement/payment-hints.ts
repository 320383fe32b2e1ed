import { newId } from '../../lib/ids.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { CheckoutSession } from '../model/session.ts';
import type { SettlementUnit } from './books.ts';
import type { Account } from './session-totals.ts';
import { awaited, failed, unseen } from './settling.ts';

/** Records a hash that the payer says is the payment, as `Settlement.claim` says. */
export async function recordPaymentHint(
  books: SettlementUnit,
  { id }: Pick<CheckoutSession, 'id'>,
  txHash: string,
): Promise<PaymentTransaction | undefined> {
  const { now } = books;
  const session = await books.sessionOf(id);
  const all = await books.transactions.ofSession(id);
  const known = all.find(one => one.txHash === txHash);
  if (known !== undefined) {
    const isWorthAnotherLook = session.status === 'active' && isGivenUp(known);
    if (!isWorthAnotherLook) return known;
    const others = all.filter(one => one !== known);
    return books.write(awaited({ session, transaction: known, others }, now));
  }
  if (session.status !== 'active') return undefined;
  const transaction = unseen(session, { id: newId('txn'), txHash, matchedBy: 'wallet' }, now);
  return books.writeNew(awaited({ session, transaction, others: all }, now));
}

/** A claimed transaction waits to be put into a block: as `Settlement.waiting` says. */
export async function waiting(books: SettlementUnit, transactionId: string, nonce: number): Promise<void> {
  const account = await books.account(transactionId);
  const { status, nonce: known } = account.transaction;
  if (isGivenUp(account.transaction)) await books.write(awaited(withNonce(account, nonce), books.now));
  else if (status === 'pending' && known !== nonce) {
    await books.transactions.update(withNonce(account, nonce).transaction);
  }
}

/** A claimed transaction goes on under another hash: as `Settlement.follow` says. */
export async function follow(books: SettlementUnit, transactionId: string, txHash: string): Promise<void> {
  const account = await books.account(transactionId);
  const { transaction, others } = account;
  if (transaction.status !== 'pending' || transaction.txHash === txHash) return;
  const isRecorded = others.some(other => other.txHash === txHash);
  const renamed = { ...account, transaction: { ...transaction, txHash } };
  await books.write(isRecorded ? failed(account, 'replaced', books.now) : awaited(renamed, books.now));
}

function isGivenUp({ status, failureReason }: PaymentTransaction): boolean {
  return status === 'failed' && failureReason === 'not_found';
}

function withNonce(account: Account, nonce: number): Account {
  return { ...account, transaction: { ...account.transaction, nonce } };
}
